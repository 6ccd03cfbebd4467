import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { routes } from "./app.ts";
import { toHttpError } from "./http/error_response.ts";
import { type KeyLimits, type Permission, PERMISSIONS, Rights } from "./rules/rights.ts";
import type { Store } from "./store/store.ts";
import type { Endpoint } from "./api/endpoint.ts";
import { needs, requireRights } from "./api/permissions.ts";
import { routedRequest, testDeps } from "./api/test_support.ts";

const endpoints = routes.flatMap(({ endpoints }) => Object.entries(endpoints));

/** What a store throws that is used at all: the checks before the handler have passed. */
class StoreUsed extends Error {}

/** Calls an endpoint as a key with these limits, and returns the status, and the sentence of an error. */
async function call(
  [method, { handle }]: [string, Endpoint],
  limits: KeyLimits,
): Promise<{ status: number; sentence: string }> {
  const key = { project: "p", prefix: "key", rights: new Rights(limits) };
  const store = new Proxy({}, {
    get(_, part) {
      if (part === "keys") return { find: () => Promise.resolve(key) };
      if (part === "adminToken" || part === "signIns") return undefined;
      throw new StoreUsed(`The store's ${String(part)} were used`);
    },
  }) as unknown as Store;
  const params = {
    project: "p",
    drive: "d",
    id: "u",
    app: "a",
    name: "n",
    prefix: "k",
    version: "v",
    file: "f",
  };
  const routed = routedRequest(method, params, { "x-api-key": "p_key" });
  try {
    const { status } = await handle({ ...routed, query: "name=a.txt" }, await testDeps(store));
    return { status, sentence: "" };
  } catch (error) {
    if (error instanceof StoreUsed) return { status: 200, sentence: "" };
    const { status, message } = toHttpError(error);
    return { status, sentence: message };
  }
}

Deno.test("every operation has a row in the table of permissions, and every row an operation", () => {
  const ids = endpoints.map(([, { operation }]) => operation.id);
  assertEquals([...needs.keys()].sort(), ids.sort());
});

Deno.test("a row accepts the callers that the description of the operation names", () => {
  for (const [, { operation, access }] of endpoints) {
    const schemes = access.security.flatMap((one) => Object.keys(one));
    const need = needs.get(operation.id);
    const takesKey = need !== undefined && "permissions" in need;
    // The applications' callers have a scheme of their own: the gate decides.
    if (need?.of === "anyone") continue;
    assertEquals(schemes.includes("ProjectKey"), takesKey, operation.id);
    assertEquals(schemes.includes("AdministratorToken"), true, operation.id);
    assertEquals(schemes.includes("SessionHeader"), true, operation.id);
  }
});

Deno.test("every operation but that on the key itself refuses a key without one of the permissions that it needs, and names it", async () => {
  for (const endpoint of endpoints) {
    const { id } = endpoint[1].operation;
    const need = needs.get(id);
    if (need === undefined || !("permissions" in need)) continue;
    assertEquals(need.permissions.length > 0, id !== "showOwnKey", id);
    for (const missing of PERMISSIONS) {
      const permissions = PERMISSIONS.filter((permission) => permission !== missing);
      const { status, sentence } = await call(endpoint, { permissions });
      if (!need.permissions.includes(missing)) {
        assertEquals(status === 403, false, `${id} without ${missing}: ${sentence}`);
        continue;
      }
      assertEquals(status, 403, `${id} without ${missing}`);
      assertStringIncludes(sentence, `does not have the permission "${missing}"`);
    }
    const { status, sentence } = await call(endpoint, { permissions: need.permissions });
    assertEquals(status === 403, false, `${id}: ${sentence}`);
  }
});

Deno.test("a key that is limited to drives or names is refused by what concerns the whole project", async () => {
  for (const endpoint of endpoints) {
    const { id } = endpoint[1].operation;
    const isRefused = needs.get(id)?.of === "whole project";
    for (const limits of [{ drives: ["d"] }, { namePrefix: "a" }]) {
      const { status, sentence } = await call(endpoint, limits);
      if (needs.get(id)?.of === "administrator") assertEquals(status, 403, id);
      else assertEquals(sentence.includes("of the whole project"), isRefused, `${id}: ${sentence}`);
    }
  }
});

Deno.test("an operation on a drive refuses a key for another drive", async () => {
  for (const { segments, endpoints } of routes) {
    if (segments[0] !== "v1" || !segments.includes(":drive")) continue;
    for (const endpoint of Object.entries(endpoints)) {
      const { status, sentence } = await call(endpoint, { drives: ["e"] });
      const { id } = endpoint[1].operation;
      assertEquals([status, sentence.includes('the drive "d"')], [403, true], id);
    }
  }
});

Deno.test("an operation without a row, or for other callers, refuses every key", () => {
  for (const id of ["unknown", "toString", "__proto__", "createProject", "showHealth"]) {
    assertThrows(() => requireRights(id, Rights.all), Error, id);
  }
});

Deno.test("the missing permissions are named, and no others", () => {
  const permissions: Permission[] = ["admin"];
  const refused = () => requireRights("deleteDrive", new Rights({ permissions }));
  assertThrows(refused, Error, 'does not have the permission "delete": ');
});
