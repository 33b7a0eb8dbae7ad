// The parts of the server's responses that the viewer reads, and the types that its modules share. docs/http describes
// the responses completely.

/** The module that the server generates from its catalogue of datasets. */
declare module "*/datasets.js" {
    export const LAYERS: {
        id: string; name: string; shape: string; order: number; isShownAtFirst: boolean;
        isWarning: boolean; parts: string[];
    }[];
    export const AREA_KINDS: Map<string, string>;
    export const ONLINE_BASE_MAP: { tiles: string; attribution: string } | null;
    export const FIELD_PRODUCTS: Map<string, string>;
    export const EVENTS: Map<string, string[]>;
    export const SEVERITIES: string[];
    export const HISTORIES: number[];
    export const PROPERTIES: Map<string, Record<string, string | undefined>>;
}

declare namespace Billow {
    /** The view of a page: the URL's hash as an object. */
    interface View {
        /** Ids of layers, the lowest first; at least one. */
        layers: string[];
        /** The user's order of layers, the lowest first, or null. */
        order: string[] | null;
        /** Layer id → percent; other layers are opaque. */
        opacities: Record<string, number>;
        /** The history in hours. */
        hours: number;
        /** Feet, whole thousands; null is open. */
        minAltitude: number | null;
        maxAltitude: number | null;
        /** 0 to 4. */
        minSeverity: number;
        /** A selection of severities in rising order; null if `minSeverity` applies. */
        severities: number[] | null;
        /** The aircraft category that severities are for; null for the server's default. */
        category: string | null;
        /** Ids of sources, or null for all. */
        sources: string[] | null;
        /** An instant, or null for live. */
        time: number | null;
        /** The id of one of the server's styles, or null for the style of the user's scheme. */
        style: string | null;
        /** The id of one of the timeline's spans, or null for the default of the layers. */
        span: string | null;
        /** The number of the timeline's frames, or null for that of the span. */
        frames: number | null;
        /** Waypoints with blanks between them, or null. */
        route: string | null;
        /** The planned altitude in feet, or null. */
        level: number | null;
        /** The speed and departure along the route, as in passage.js, or null. */
        passage: string | null;
        /** The ICAO address of the followed aircraft, or null. */
        flight: string | null;
        /** Longitude and latitude of the open card's place, or null. */
        place: [number, number] | null;
        /** Whether the card of the route is open. */
        isRouteOpen: boolean;
        /** Whether the map is a globe. */
        isGlobe: boolean;
        zoom: number;
        longitude: number;
        latitude: number;
    }

    /** The member `billow` of a TileJSON. */
    interface Snapshot {
        version?: number;
        asOf?: string;
        dataTime?: string | null;
        stale?: boolean;
        simulated?: boolean;
        incomplete?: boolean;
        completeSince?: string | null;
        /** The server's TileJSON had no such member. */
        unknown?: boolean;
    }

    interface TileJSON {
        tiles: string[];
        time?: { extent?: string[] };
        version?: number | string;
        minzoom?: number;
        maxzoom?: number;
        bounds?: number[];
        attribution?: string;
        billow?: Snapshot;
    }

    /** The request of a picture. `subject` identifies filters and instant; `key` also identifies the snapshot. */
    interface PictureRequest {
        tileJSON: TileJSON;
        subject: string;
        key: string;
        /** The lowest first. */
        parts: { layers: string[]; key: string; template: string; opacity: number }[];
        /** The pixels of the tiles per pixel of the page, 1 or 2. */
        scale?: number;
        /** The requested instant, or null for live. */
        time: number | null;
        asOf: number | null;
        view: DrawnView;
    }

    interface SourceStatus {
        id: string;
        kind: string;
        layers?: string[];
        state: string;
        update?: string;
        stale?: boolean;
        reachable?: boolean | null;
        lastSuccess?: string | null;
        nextAttempt?: string | null;
        lastError?: { code?: string; message?: string; detail?: string } | string | null;
        lagSeconds?: number;
        counts?: { accepted: number; skipped?: Record<string, number> } | null;
        disabled?: Record<string, string> | null;
    }

    /** The contents and the hit counts of a cache of the server. */
    interface CacheStatus {
        entries: number;
        bytes: number;
        hits: number;
        misses: number;
    }

    /** `/status` */
    interface Status {
        asOf?: string;
        version?: number;
        started?: string;
        ready?: boolean;
        draining?: boolean;
        stale?: boolean;
        liveObservations?: number;
        oldestObservation?: string | null;
        newestObservation?: string | null;
        storeFailure?: string | null;
        damage?: { table: string; rows: number }[];
        backups?: { newest?: string | null; failure?: string | null; copyFailure?: string | null };
        tileCache?: CacheStatus;
        vectorTileCache?: CacheStatus;
        mapCache?: CacheStatus;
        answerCache?: CacheStatus;
        simulated?: boolean;
        sources?: SourceStatus[];
        layers?: Record<string, {
            stale?: boolean; incomplete?: boolean; dataTime?: string | null; completeSince?: string | null;
        }>;
    }

    interface LegendEntry {
        severity: number;
        label: string;
        fill: string;
        opacity?: number;
        border?: { colour: string; opacity?: number } | null;
    }

    interface Legend {
        title: string;
        entries: LegendEntry[];
        notes?: string[];
    }

    /** A feature whose properties depend on its collection. */
    interface Feature {
        id?: string;
        geometry: { type: string; coordinates: any };
        properties: Record<string, any>;
    }

    interface FeatureCollection {
        features: Feature[];
        incomplete?: boolean;
        completeSince?: string | null;
        links?: { rel: string; href: string }[];
    }

    /** A cell of an alert: reports have a lowest and a highest level, a field one. */
    interface AlertItem {
        observedAt?: string;
        h3: string;
        altitudeMin?: number;
        altitudeMax?: number;
        altitude?: number;
    }

    /** A group of cells. */
    interface AlertCluster {
        text: string;
        severity?: number;
        members?: string[];
        /** Nautical miles, and seconds until one is there and past it. */
        distance?: number;
        timeTo?: number;
        timeToPass?: number;
    }

    /** The answer of `/alerts`. */
    interface Alerts {
        area?: { type: string; coordinates: any };
        items?: AlertItem[];
        truncated?: boolean;
        clusters: (AlertCluster & { members: string[]; longitude: number; latitude: number })[];
        /** Computed turbulence. */
        field?: { clusters?: (AlertCluster & { severity: number })[]; items?: AlertItem[]; truncated?: boolean };
        hazards: {
            kind: string;
            hazard?: string;
            altitudeMin?: number;
            altitudeMax?: number;
            altitudeReference?: string;
            validFrom?: string;
            validTo?: string;
        }[];
        query: { minAltitude: number; maxAltitude: number; distance?: number };
        dataTime?: string | null;
        stale?: boolean;
        incomplete?: boolean;
    }

    /** A layer of the manifest of `/timeline.json`. */
    interface ManifestLayer {
        id: string;
        frames: { time: string; tiles: string; forecast?: boolean; incomplete?: boolean }[];
    }

    /** The frame that the timeline shows. */
    interface Frame {
        time: number;
        live: boolean;
        forecast: boolean;
        incomplete: boolean;
        playing: boolean;
        /** Whether it is the requested frame. */
        ready: boolean;
        view: DrawnView;
    }

    /** The members of a view that the pixels of a picture or frame depend on, besides the instant. */
    type DrawnView = Pick<
        View, "layers" | "opacities" | "hours" | "minAltitude" | "maxAltitude" | "minSeverity" | "severities"
        | "category" | "sources" | "style"
    >;

    /** A style of `/styles`. */
    interface Style {
        id: string;
        title: string;
        theme: string;
        description?: string;
    }
}
