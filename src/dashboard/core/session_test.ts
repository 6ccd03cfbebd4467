import { assertEquals } from "@std/assert";
import { Session } from "./session.js";

/** A tab's storage. */
class TabStorage implements Storage {
  readonly #items = new Map<string, string>();

  get length(): number {
    return this.#items.size;
  }
  key(index: number): string | null {
    return [...this.#items.keys()][index] ?? null;
  }
  getItem(key: string): string | null {
    return this.#items.get(key) ?? null;
  }
  setItem(key: string, value: string): void {
    this.#items.set(key, value);
  }
  removeItem(key: string): void {
    this.#items.delete(key);
  }
  clear(): void {
    this.#items.clear();
  }
}

Deno.test("A session is kept in the tab until it ends, and its end is reported once", () => {
  const storage = new TabStorage();
  const session = new Session(storage);
  const ends: string[] = [];
  session.onEnd((sentence) => ends.push(sentence));
  assertEquals([session.credentials, session.headers], [undefined, {}]);
  session.start({ kind: "project", project: "p", secret: "p_x" });
  assertEquals(new Session(storage).credentials, { kind: "project", project: "p", secret: "p_x" });
  assertEquals([session.isAdministrator, session.headers], [false, { "X-Api-Key": "p_x" }]);
  session.end("Revoked");
  session.end("Again");
  assertEquals([ends, storage.length, session.credentials], [["Revoked"], 0, undefined]);
});

Deno.test("The administrator's token is sent as a bearer token", () => {
  const session = new Session(new TabStorage());
  session.start({ kind: "admin", secret: "t" });
  assertEquals([session.isAdministrator, session.headers], [true, { Authorization: "Bearer t" }]);
});
