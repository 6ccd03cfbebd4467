import { assertEquals } from "@std/assert";
import { Answer } from "../support/answer.ts";
import { Gate } from "../support/gate/gate.ts";
import { RawClient } from "../support/gate/raw_client.ts";
import { type Echo, UpstreamApp } from "../support/gate/upstream_app.ts";

Deno.test("An application on the same host never gets the cookie of the dashboard.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  const send = async (cookies: string) => {
    using client = await RawClient.connect(gate.port);
    const lines = [`GET ${gate.prefix()}/ HTTP/1.1`, "Host: localhost", ...cookies.split("\n")];
    await client.send(`${lines.join("\r\n")}\r\n\r\n`);
    const { headers } = JSON.parse((await client.readAnswer()).body) as Echo;
    return Object.fromEntries(headers)["cookie"];
  };
  assertEquals(await send("Cookie: a=b; kvdrive_dashboard=x; c=d"), "a=b; c=d");
  assertEquals(await send("Cookie: kvdrive_dashboard=x\nCookie: a=b"), "a=b");
  assertEquals(await send("cookie:KVDRIVE_DASHBOARD=x;__Host-kvdrive_dashboard=y"), undefined);
});

Deno.test("A session of the dashboard opens no protected application.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.shared();
  await gate.protect(upstream.origin);
  const { origin } = gate.project.server;
  const body = JSON.stringify({ secret: gate.project.key });
  const signedIn = await fetch(`${origin}/dashboard/session`, { method: "POST", body });
  const { session } = await signedIn.json() as { session: { csrf: string } };
  const [cookie = ""] = (signedIn.headers.get("set-cookie") ?? "").split(";");
  const names = [cookie, cookie.replace("dashboard", "session")];
  for (const Cookie of names) {
    const headers = { Cookie, "X-Kvdrive-Session": session.csrf };
    (await Answer.of(await gate.fetch("/", { headers }))).expect(401);
  }
});
