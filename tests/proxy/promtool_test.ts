import { assertEquals } from "@std/assert";
import { Drive } from "../support/drive.ts";
import { Gate } from "../support/gate/gate.ts";
import { UpstreamApp } from "../support/gate/upstream_app.ts";

const TOKEN = "token-for-the-metrics-0123456789";

Deno.test("promtool accepts the metrics after requests to the API and to an application.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.start({ env: { KVDRIVE_METRICS_TOKEN: TOKEN } });
  const key = await gate.protect(upstream.origin);
  await (await gate.fetch("/echo", { headers: { "X-Api-Key": key } })).body?.cancel();
  await (await gate.fetch("/echo")).body?.cancel();
  const drive = new Drive(gate.server, "drive");
  await drive.put("a", "text");
  await drive.get("a");
  await drive.get("missing");
  const headers = { Authorization: `Bearer ${TOKEN}` };
  const answer = await fetch(`${gate.server.origin}/metrics`, { headers });
  assertEquals(answer.status, 200);
  assertEquals(await checkMetrics(await answer.text()), { code: 0, output: "" });
});

/** Gives metrics to promtool, which is in Debian's package `prometheus`. */
async function checkMetrics(text: string): Promise<{ code: number; output: string }> {
  const promtool = new Deno.Command("promtool", {
    args: ["check", "metrics"],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = promtool.stdin.getWriter();
  await writer.write(new TextEncoder().encode(text));
  await writer.close();
  const { code, stdout, stderr } = await promtool.output();
  return { code, output: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}
