import { assertEquals } from "@std/assert";
import {
  SESSION_NAMES as NAMES,
  sessionCookie,
  sessionTokens,
  withoutSessionCookie,
} from "./session_cookie.ts";

Deno.test("Session cookies are removed, and all other bytes are kept", () => {
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
    ["a=b; kvdrive_dashboard=x; __Host-kvdrive_dashboard=y; kvdrive_session=z; c", "a=b; c"],
    ["=kvdrive_dashboard=x; KVDRIVE_Dashboard =x", undefined],
    ["kvdrive_dashboards=x", "kvdrive_dashboards=x"],
    ["  a=b ;;c", "  a=b ;;c"],
    ["", ""],
  ];
  for (const [given, wanted] of cases) assertEquals(withoutSessionCookie(given), wanted, given);
});

Deno.test("The tokens of all session cookies are read", () => {
  const header = (value: string) => ({ name: "Cookie", lower: "cookie", value });
  const headers = [
    header("a=b; kvdrive_session=x=y; c"),
    header("kvdrive_session= z"),
    header("c=d"),
  ];
  assertEquals(sessionTokens(headers, ["kvdrive_session"]), ["x=y", "z"]);
  assertEquals(sessionTokens([{ ...header("kvdrive_session=x"), lower: "x-cookie" }], NAMES), []);
  const both = [header("kvdrive_session=x; __Host-kvdrive_session=y")];
  assertEquals(sessionTokens(both, NAMES), ["x", "y"]);
  assertEquals(sessionTokens(both, ["__Host-kvdrive_session"]), ["y"]);
  assertEquals(sessionTokens([header("__host-kvdrive_session=y; KVDRIVE_SESSION=z")], NAMES), []);
});

Deno.test("A session cookie is limited to one application and hidden from scripts", () => {
  const options = { prefix: "/p/a", isSecure: true, maxAge: 60 };
  const cookie = "kvdrive_session=t; Path=/p/a/; Max-Age=60; HttpOnly; SameSite=Lax";
  assertEquals(sessionCookie("t", options), `${cookie}; Secure`);
  assertEquals(sessionCookie("t", { ...options, isSecure: false }), cookie);
  const own = { ...options, prefix: "", isSecure: false };
  assertEquals(sessionCookie("t", own), cookie.replace("/p/a/", "/"));
  const bound = `__Host-${cookie.replace("/p/a/", "/")}; Secure`;
  assertEquals(sessionCookie("t", { ...own, isSecure: true }), bound);
});
