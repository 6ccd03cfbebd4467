import { assertEquals } from "@std/assert";
import type { Route } from "./routing.ts";
import { isGatePath, signInFormFor } from "./sign_in.ts";

const app = { project: "p", app: "a", created: 0, access: true };

function nextOf(prefix: string, next: string | null): string {
  const route: Route = { app, exists: true, prefix, target: "/" };
  return signInFormFor(route, next).next;
}

Deno.test("A sign-in leads to a path of the application only", () => {
  const elsewhere = [
    null,
    "",
    "x",
    "//evil.example/",
    "/\\evil.example/",
    "\\/evil.example",
    "/\t/evil.example/",
    "///evil.example",
    "https://evil.example/",
    "javascript:alert(1)",
    "/.//evil.example",
    "/x/..//evil.example",
    "/.kvdrive/sign-in",
    "/x/../.kvdrive/sign-out",
  ];
  for (const next of elsewhere) assertEquals(nextOf("", next), "/", String(next));
  for (const next of elsewhere) assertEquals(nextOf("/p/a", next), "/p/a/", String(next));
  assertEquals(nextOf("", "/x//y?z=//evil.example#w"), "/x//y?z=//evil.example");
  assertEquals(nextOf("/p/a", "/p/a/x\r\ny"), "/p/a/xy");
  assertEquals(nextOf("/p/a", "/p/a"), "/p/a/");
  assertEquals(nextOf("/p/a", "/p/ab/x"), "/p/a/");
  assertEquals(nextOf("/p/a", "/p/a//evil.example"), "/p/a//evil.example");
});

Deno.test("The gate serves only paths below /.kvdrive itself", () => {
  for (const path of ["/.kvdrive", "/.kvdrive/", "/.kvdrive?x", "/.kvdrive/sign-in?next=/"]) {
    assertEquals(isGatePath(path), true, path);
  }
  for (const path of ["/", "/.kvdriver", "/x/.kvdrive", "/.Kvdrive/", "/%2ekvdrive/"]) {
    assertEquals(isGatePath(path), false, path);
  }
});
