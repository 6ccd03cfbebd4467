import { assertEquals, assertMatch } from "@std/assert";
import { ADMINISTERED, withKey } from "../support/admin.ts";
import { Answer } from "../support/answer.ts";
import { Folder } from "../support/command.ts";
import { APP } from "../support/gate/gate.ts";
import { type Echo, UpstreamApp } from "../support/gate/upstream_app.ts";
import { LaunchedServer } from "../support/launch.ts";
import { TlsFiles } from "../support/tls.ts";

Deno.test("With TLS the gate serves callers over TLS and tells applications so.", async () => {
  await using tls = await TlsFiles.make();
  await using folder = await Folder.make();
  const { certificate: cert, key } = tls.pem;
  await using upstream = new UpstreamApp({ cert, key });
  const args = [
    "serve",
    "--port",
    "0",
    "--apps-port",
    "auto",
    "--data",
    folder.at("data"),
    ...tls.args,
  ];
  await using server = await LaunchedServer.start(args, {
    ...ADMINISTERED.env,
    DENO_CERT: tls.authority,
  });
  using client = tls.client();
  const gate = /^Applications are at (https:\S+)$/m.exec(server.text)?.[1];
  const ask = async (url: string, init: RequestInit = {}) =>
    await Answer.of(await fetch(url, { ...init, client, redirect: "manual" }));
  const send = async (method: string, path: string, body: unknown) =>
    await ask(`${server.origin}/admin/v1/projects${path}`, {
      method,
      headers: { Authorization: `Bearer ${ADMINISTERED.env?.KVDRIVE_ADMIN_TOKEN}` },
      body: JSON.stringify(body),
    });
  const made = (await send("POST", "", {})).expect(201).json as {
    project_id: string;
    project_key: string;
  };
  const { project_id: id, project_key: owner } = made;
  const address = `https://localhost:${upstream.port}`;
  (await send("POST", `/${id}/apps`, { name: APP, upstream: address })).expect(201);
  (await send("PUT", `/${id}/apps/${APP}/access`, { enabled: true })).expect(200);
  for (let i = 0; i < 3; i++) {
    const answer = await ask(`${gate}/${id}/${APP}/x`, { headers: withKey(owner) });
    const headers = Object.fromEntries((answer.expect(200).json as Echo).headers);
    assertEquals([headers["x-forwarded-proto"], headers["host"]], [
      "https",
      `localhost:${upstream.port}`,
    ]);
  }
  const signedIn = await ask(`${gate}/${id}/${APP}/.kvdrive/sign-in`, {
    method: "POST",
    headers: { Origin: gate ?? "" },
    body: new URLSearchParams({ key: owner }),
  });
  assertMatch(signedIn.expect(303).header("Set-Cookie"), /; Secure$/);
  // A certificate that is not for this name is no application of ours.
  const other = `https://127.0.0.2:${upstream.port}`;
  (await send("PATCH", `/${id}/apps/${APP}`, { upstream: other })).expect(200);
  (await ask(`${gate}/${id}/${APP}/x`, { headers: withKey(owner) })).expect(502);
});
