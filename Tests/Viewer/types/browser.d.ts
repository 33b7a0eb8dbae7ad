// Functions of browsers that the library of TypeScript 4.8 lacks (ECMAScript 2023, 23.1.3).
interface Array<T> {
    findLast(predicate: (value: T, index: number) => boolean): T | undefined;
    findLastIndex(predicate: (value: T, index: number) => boolean): number;
}

interface ReadonlyArray<T> {
    findLast(predicate: (value: T, index: number) => boolean): T | undefined;
    findLastIndex(predicate: (value: T, index: number) => boolean): number;
}

declare class CompressionStream {
    constructor(format: "deflate");
    readonly readable: ReadableStream<Uint8Array>;
    readonly writable: WritableStream<Uint8Array>;
}

declare class DecompressionStream {
    constructor(format: "deflate");
    readonly readable: ReadableStream<Uint8Array>;
    readonly writable: WritableStream<Uint8Array>;
}
