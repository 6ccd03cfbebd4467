import { computed, type ReadonlySignal, signal } from "@preact/signals";

/** An address within the page: `#/p/demo/files/photos/2026/?open=a.jpg`. */
export interface Address {
  /** The decoded segments, such as `["p", "demo", "files", "photos", "2026", ""]`. */
  segments: readonly string[];
  query: URLSearchParams;
}

/** Follows and changes the address of the page. The part after `#` never reaches the server or its log. */
export class Router {
  readonly #hash = signal(location.hash);
  readonly #address = computed(() => parseHash(this.#hash.value));

  constructor() {
    globalThis.addEventListener("hashchange", () => this.#read());
    globalThis.addEventListener("popstate", () => this.#read());
  }

  get address(): ReadonlySignal<Address> {
    return this.#address;
  }

  /** Opens an address: Back returns to the present one. */
  go(hash: string): void {
    if (hash === location.hash) return;
    history.pushState(null, "", hash);
    this.#read();
  }

  /** Opens an address in place of the present one. */
  replace(hash: string): void {
    history.replaceState(null, "", hash);
    this.#read();
  }

  #read(): void {
    this.#hash.value = location.hash;
  }
}

/** Returns the address of a hash. One that is not percent-encoded UTF-8 counts as the first page. */
function parseHash(hash: string): Address {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  try {
    return {
      segments: path === "" ? [] : path.split("/").map(decodeURIComponent),
      query: new URLSearchParams(query),
    };
  } catch {
    return { segments: [], query: new URLSearchParams() };
  }
}

/** Returns the hash of segments and a query. Empty values are left out. */
export function hashOf(
  segments: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const values = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") values.set(name, value);
  }
  const text = values.toString();
  return `#/${segments.map(encodeURIComponent).join("/")}${text === "" ? "" : `?${text}`}`;
}
