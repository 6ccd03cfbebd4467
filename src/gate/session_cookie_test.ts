import { assertEquals } from "@std/assert";
import {
  SESSION_NAMES as NAMES,
  sessionCookie,
  sessionTokens,
  withoutSessionCookie,
} from "./session_cookie.ts";

Deno.test("Our cookie is cut out, and every other one stays byte by byte", () => {
  const cases: [string, string | undefined][] = [
    ["a=b", "a=b"],
    ["kvdrive_session=x", undefined],
    ["a=b; kvdrive_session=x", "a=b"],
    ["kvdrive_session=x; a=b", "a=b"],
    ["a=b; kvdrive_session=x; c=d", "a=b; c=d"],
    ["a=b;kvdrive_session=x;c=d", "a=b;c=d"],
    ["a=b; kvdrive_session=x; kvdrive_session=y; c=d", "a=b; c=d"],
    ["a=b;  kvdrive_session = x ; c=\xe9", "a=b; c=\xe9"],
    ["kvdrive_session", undefined],
    ["kvdrive_session=; ", undefined],
    ["kvdrive_sessions=x", "kvdrive_sessions=x"],
    ["my_kvdrive_session=x; a", "my_kvdrive_session=x; a"],
    ["a=kvdrive_session=x", "a=kvdrive_session=x"],
    ["KVDRIVE_SESSION=x", undefined],
    ["a=b; __Host-kvdrive_session=x; c", "a=b; c"],
    ["__Secure-kvdrive_session=x", undefined],
    ["  a=b ;;c", "  a=b ;;c"],
    ["", ""],
  ];
  for (const [given, wanted] of cases) assertEquals(withoutSessionCookie(given), wanted, given);
});

Deno.test("The tokens of all cookies of ours are read", () => {
  const field = (value: string) => ({ name: "Cookie", lower: "cookie", value });
  const fields = [field("a=b; kvdrive_session=x=y; c"), field("kvdrive_session= z"), field("c=d")];
  assertEquals(sessionTokens(fields, ["kvdrive_session"]), ["x=y", "z"]);
  assertEquals(sessionTokens([{ ...field("kvdrive_session=x"), lower: "x-cookie" }], NAMES), []);
  const both = [field("kvdrive_session=x; __Host-kvdrive_session=y")];
  assertEquals(sessionTokens(both, NAMES), ["x", "y"]);
  assertEquals(sessionTokens(both, ["__Host-kvdrive_session"]), ["y"]);
  assertEquals(sessionTokens([field("__host-kvdrive_session=y; KVDRIVE_SESSION=z")], NAMES), []);
});

Deno.test("The cookie is for one application, and no script's", () => {
  const options = { prefix: "/p/a", isSecure: true, maxAge: 60 };
  const cookie = "kvdrive_session=t; Path=/p/a/; Max-Age=60; HttpOnly; SameSite=Lax";
  assertEquals(sessionCookie("t", options), `${cookie}; Secure`);
  assertEquals(sessionCookie("t", { ...options, isSecure: false }), cookie);
  const own = { ...options, prefix: "", isSecure: false };
  assertEquals(sessionCookie("t", own), cookie.replace("/p/a/", "/"));
  const bound = `__Host-${cookie.replace("/p/a/", "/")}; Secure`;
  assertEquals(sessionCookie("t", { ...own, isSecure: true }), bound);
});
