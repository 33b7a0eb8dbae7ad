// The parts of MapLibre GL JS 5, whose wheel has no types, that the viewer uses.
// Source: https://maplibre.org/maplibre-gl-js/docs/API/

declare namespace maplibregl {
    interface LngLat {
        lng: number;
        lat: number;
        wrap(): LngLat;
    }
    type LngLatLike = LngLat | [number, number];

    /** A source or a layer as the style specification has it. */
    type Specification = { [member: string]: unknown };

    interface Source {
        setData(data: object | string): void;
        setTiles(tiles: string[]): void;
    }

    interface Handler {
        disableRotation(): void;
    }

    interface Control {}

    interface MapOptions {
        container: string | HTMLElement;
        style: object;
        center?: [number, number];
        zoom?: number;
        maxZoom?: number;
        fadeDuration?: number;
        dragRotate?: boolean;
        pitchWithRotate?: boolean;
        touchPitch?: boolean;
        attributionControl?: boolean;
        transformRequest?: (url: string) => { url: string; headers?: Record<string, string> };
    }

    interface MapEvents {
        click: { lngLat: LngLat };
        error: { error?: Error; sourceId?: string };
        sourcedata: { sourceId?: string; tile?: { registerFadeDuration?: (milliseconds: number) => void } };
        styleimagemissing: { id: string };
        moveend: object;
        movestart: { isUncovering?: boolean };
        idle: object;
        render: object;
        load: object;
        "style.load": object;
        styledata: object;
        projectiontransition: object;
        resize: object;
        webglcontextlost: object;
        webglcontextrestored: object;
    }

    interface Bounds {
        getWest(): number;
        getSouth(): number;
        getEast(): number;
        getNorth(): number;
    }

    /** The library's own list of the tiles of a source, which has no documentation. */
    interface SourceCache {
        getRenderableIds(): string[];
        getTileByID(id: string): { tileID: { canonical: { z: number; x: number; y: number } } };
    }

    class Map {
        constructor(options: MapOptions);
        style?: { sourceCaches?: Record<string, SourceCache> };
        getBounds(): Bounds;
        project(place: LngLatLike): { x: number; y: number };
        touchZoomRotate: Handler;
        keyboard: Handler;
        on<Name extends keyof MapEvents>(name: Name, listener: (event: MapEvents[Name]) => void): this;
        once<Name extends keyof MapEvents>(name: Name, listener: (event: MapEvents[Name]) => void): this;
        once<Name extends keyof MapEvents>(name: Name): Promise<MapEvents[Name]>;
        off<Name extends keyof MapEvents>(name: Name, listener: (event: MapEvents[Name]) => void): this;
        addControl(control: Control, position?: string): this;
        addImage(id: string, image: ImageData, options?: { pixelRatio?: number }): this;
        hasImage(id: string): boolean;
        updateImage(id: string, image: ImageData): this;
        setLayoutProperty(layer: string, name: string, value: unknown): this;
        addLayer(layer: Specification, before?: string): this;
        addSource(id: string, source: Specification): this;
        getLayer(id: string): Specification | undefined;
        getSource(id: string): Source | undefined;
        moveLayer(id: string, before?: string): this;
        removeLayer(id: string): this;
        removeSource(id: string): this;
        setFilter(id: string, filter: unknown[]): this;
        setPaintProperty(layer: string, name: string, value: unknown): this;
        isSourceLoaded(id: string): boolean;
        queryRenderedFeatures(options: { layers: string[] }): {
            layer: { id: string }; properties: Record<string, string>; geometry: { coordinates: [number, number] };
        }[];
        getProjection(): { type: string } | undefined;
        setProjection(projection: { type: "globe" | "mercator" }): this;
        areTilesLoaded(): boolean;
        getCanvas(): HTMLCanvasElement;
        getContainer(): HTMLElement;
        getStyle(): { layers: Record<string, any>[]; sources: Record<string, any> };
        getCanvasContainer(): HTMLElement;
        isMoving(): boolean;
        triggerRepaint: () => void;
        getCenter(): LngLat;
        getZoom(): number;
        getMinZoom(): number;
        easeTo(options: {
            center?: [number, number]; zoom?: number; offset?: [number, number]; animate?: boolean;
        }, eventData?: { isUncovering?: boolean }): this;
        jumpTo(options: { center?: [number, number]; zoom?: number }): this;
    }

    class Marker {
        constructor(options: { element: HTMLElement });
        addTo(map: Map): this;
        setLngLat(place: LngLatLike): this;
        remove(): this;
    }

    class GlobeControl implements Control {}

    class NavigationControl implements Control {
        constructor(options: { showCompass?: boolean });
    }

    class ScaleControl implements Control {
        constructor(options: { unit?: string; maxWidth?: number });
    }

    class AttributionControl implements Control {
        constructor(options: { compact?: boolean });
    }

    function addProtocol(
        name: string,
        load: (request: { url: string }, abort: AbortController) => Promise<{ data: ArrayBuffer }>,
    ): void;
}

// The libraries of the examples, of which the pages use a few lines.
declare const L: any;
declare const ol: any;
declare const deck: any;
