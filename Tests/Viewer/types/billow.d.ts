// What the server says, as far as the viewer reads it: docs/http has the whole. And what the viewer's modules share.

/** The module that the server makes of its catalogue of datasets. */
declare module "*/datasets.js" {
    export const LAYERS: {
        id: string; name: string; shape: string; order: number; isShownAtFirst: boolean; parts: string[];
    }[];
    export const AREA_KINDS: Map<string, string>;
}

declare namespace Billow {
    /** What a page shows: the URL's hash as an object. */
    interface View {
        /** Ids of layers, the lowest first; at least one. */
        layers: string[];
        /** The reader's order of layers, the lowest first, or null. */
        order: string[] | null;
        /** In percent, by a layer's id; what isn't named is opaque. */
        opacities: Record<string, number>;
        /** How far back the picture looks. */
        hours: number;
        /** Feet, whole thousands; null is open. */
        minAltitude: number | null;
        maxAltitude: number | null;
        /** 0 to 4. */
        minSeverity: number;
        /** Some severities alone, in rising order; null where the least severity counts. */
        severities: number[] | null;
        /** An instant, or null for live. */
        time: number | null;
        /** One of the server's styles, or null for the one of the reader's scheme. */
        style: string | null;
        /** The id of one of the timeline's spans, or null for the one that fits the layers. */
        span: string | null;
        /** Waypoints with blanks between them, or null. */
        route: string | null;
        /** The planned altitude in feet, or null. */
        level: number | null;
        /** The ICAO address of the aircraft that is followed, or null. */
        flight: string | null;
        /** Longitude and latitude of the place whose card is open, or null. */
        place: [number, number] | null;
        /** Whether the card of the route is open. */
        isRouteOpen: boolean;
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

    /** What is to be drawn. `subject` tells filters and instant apart, `key` publications too. */
    interface PictureRequest {
        tileJSON: TileJSON;
        subject: string;
        key: string;
        /** The lowest first. */
        parts: { layers: string[]; key: string; template: string; opacity: number }[];
        /** The instant asked for, or null for live. */
        time: number | null;
        asOf: number | null;
    }

    interface SourceStatus {
        id: string;
        kind: string;
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

    /** What a cache of the server holds, and how often it had what was asked for. */
    interface CacheStatus {
        entries: number;
        bytes: number;
        hits: number;
        misses: number;
    }

    /** `/status` */
    interface Status {
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
        area?: object;
        items?: AlertItem[];
        clusters: (AlertCluster & { members: string[]; longitude: number; latitude: number })[];
        /** What is computed there. */
        field?: { clusters?: (AlertCluster & { severity: number })[]; items?: AlertItem[] };
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

    /** What the timeline shows. */
    interface Frame {
        time: number;
        live: boolean;
        forecast: boolean;
        incomplete: boolean;
        playing: boolean;
        /** Whether it is the one that is wanted. */
        ready: boolean;
    }

    /** A style of `/styles`. */
    interface Style {
        id: string;
        title: string;
        theme: string;
        description?: string;
    }
}
