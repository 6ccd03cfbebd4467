// The package of the `@std` modules has no types. The functions that the project uses are declared here, under the
// names
// that `deno.json` maps, so that wrong calls do not compile.

declare module "@std/assert" {
  export class AssertionError extends Error {}
  export function assert(expr: unknown, msg?: string): asserts expr;
  export function assertEquals<T>(actual: T, expected: T, msg?: string): void;
  export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void;
  export function assertStrictEquals<T>(
    actual: unknown,
    expected: T,
    msg?: string,
  ): asserts actual is T;
  export function assertExists<T>(actual: T, msg?: string): asserts actual is NonNullable<T>;
  export function assertGreater<T>(actual: T, expected: T, msg?: string): void;
  export function assertGreaterOrEqual<T>(actual: T, expected: T, msg?: string): void;
  export function assertLess<T>(actual: T, expected: T, msg?: string): void;
  export function assertLessOrEqual<T>(actual: T, expected: T, msg?: string): void;
  export function assertInstanceOf<T>(
    actual: unknown,
    expected: abstract new (...args: never[]) => T,
    msg?: string,
  ): asserts actual is T;
  export function assertMatch(actual: string, expected: RegExp, msg?: string): void;
  export function assertNotMatch(actual: string, expected: RegExp, msg?: string): void;
  export function assertObjectMatch(
    actual: Record<PropertyKey, unknown>,
    expected: Record<PropertyKey, unknown>,
    msg?: string,
  ): void;
  export function assertRejects(fn: () => PromiseLike<unknown>, msg?: string): Promise<unknown>;
  export function assertRejects<E extends Error>(
    fn: () => PromiseLike<unknown>,
    errorClass: abstract new (...args: never[]) => E,
    msgIncludes?: string,
    msg?: string,
  ): Promise<E>;
  export function assertStringIncludes(actual: string, expected: string, msg?: string): void;
  export function assertThrows(fn: () => unknown, msg?: string): unknown;
  export function assertThrows<E extends Error>(
    fn: () => unknown,
    errorClass: abstract new (...args: never[]) => E,
    msgIncludes?: string,
    msg?: string,
  ): E;
  export function fail(msg?: string): never;
}

declare module "@std/async/deadline" {
  export function deadline<T>(
    p: Promise<T>,
    ms: number,
    options?: { signal?: AbortSignal },
  ): Promise<T>;
}

declare module "@std/async/delay" {
  export function delay(
    ms: number,
    options?: { signal?: AbortSignal; persistent?: boolean },
  ): Promise<void>;
}

declare module "@std/bytes/concat" {
  /** Returns the bytes of all arrays, one after another. */
  export function concat(arrays: readonly Uint8Array[]): Uint8Array<ArrayBuffer>;
}

declare module "@std/bytes/equals" {
  export function equals(a: Uint8Array, b: Uint8Array): boolean;
}

declare module "@std/encoding/base64" {
  export function encodeBase64(data: ArrayBuffer | Uint8Array | string): string;
  export function decodeBase64(b64: string): Uint8Array<ArrayBuffer>;
}

declare module "@std/encoding/hex" {
  export function decodeHex(src: string): Uint8Array;
  export function encodeHex(src: string | Uint8Array | ArrayBuffer): string;
}

declare module "@std/http/status" {
  export const STATUS_TEXT: Readonly<Record<number, string>>;
}

declare module "@std/media-types/type-by-extension" {
  export function typeByExtension(extension: string): string | undefined;
}

declare module "@std/path/basename" {
  export function basename(path: string): string;
}

declare module "@std/path/dirname" {
  export function dirname(path: string): string;
}

declare module "@std/path/from-file-url" {
  export function fromFileUrl(url: string | URL): string;
}

declare module "@std/path/join" {
  export function join(path: string, ...paths: string[]): string;
}

declare module "@std/path/resolve" {
  export function resolve(...paths: string[]): string;
}

declare module "@std/ulid" {
  export function monotonicUlid(seedTime?: number): string;
  export function ulid(seedTime?: number): string;
}
