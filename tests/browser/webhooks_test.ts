import { assert } from "@std/assert";
import { keepChanges } from "../support/store/changes.ts";
import { dialog, openSection, signInAsOwner } from "./support/navigation.ts";
import { inspect } from "./support/screens.ts";
import { suite } from "./support/suite.ts";
import { waitUntil } from "./support/uploads.ts";

const test = suite("Webhooks", { args: ["--allow-webhook", "127.0.0.1"] });

test("A webhook is created with its secret shown once, tested, and shows its deliveries.", async (fixture) => {
  const { page, project } = fixture;
  await keepChanges(project, 7);
  await using receiver = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response(null, { status: 204 }),
  );
  await signInAsOwner(fixture);
  await openSection(page, "Webhooks");
  await page.getByText("No webhooks").waitFor();
  await page.getByRole("button", { name: "New webhook" }).click();
  const form = dialog(page, "New webhook");
  await form.getByRole("textbox", { name: "Name", exact: true }).fill("index");
  const address = `http://127.0.0.1:${receiver.addr.port}/hook`;
  await form.getByRole("textbox", { name: "Address" }).fill(address);
  await inspect(page, "new-webhook");
  await form.getByRole("button", { name: "Create webhook" }).click();
  const created = dialog(page, "Created the webhook “index”");
  const secret = await created.getByLabel("Secret that signs its deliveries", { exact: true })
    .innerText();
  assert(secret.startsWith("whsec_"), secret);
  await created.getByRole("button", { name: "Done" }).click();
  await page.getByText("Nothing was delivered yet.").waitFor();
  await page.getByRole("button", { name: "Send a test to index" }).click();
  await page.getByText("The receiver answered 204").waitFor();
  await project.drive("inbox").put("a.txt", "a");
  await waitUntil(async () => {
    const { webhooks } = (await project.call("GET", "/webhooks")).expect(200).json as {
      webhooks: { last_status: number | null }[];
    };
    return webhooks[0]?.last_status === 204;
  }, "the change is delivered");
  await page.reload();
  const delivered = page.getByRole("table", { name: "Last deliveries" });
  await delivered.getByText("1 change of inbox").waitFor();
  await delivered.getByText("204", { exact: true }).waitFor();
  await inspect(page, "webhooks");
  await page.getByRole("button", { name: "Delete index" }).click();
  await dialog(page, "Delete “index”?").getByRole("button", { name: "Delete webhook" }).click();
  await page.getByText("No webhooks").waitFor();
});

test("The state of a webhook that fails fits into its table on every screen", async (fixture) => {
  const { page } = fixture;
  const since = "2026-11-28T10:11:12Z";
  const failed = { at: since, status: null, error: "could not be reached: connection refused" };
  const webhook = {
    id: "1",
    name: "the-search-index-of-the-whole-company",
    url: "https://hooks.a-long-host-name.internal.example.com/services/T000000/B000000",
    drives: ["photos", "documents of the office"],
    enabled: true,
    disabled_reason: null,
    failing_since: since,
    pending: 12_345,
    last_delivery: since,
    deliveries: [{ ...failed, drive_name: "photos", changes: 5, attempt: 3 }],
  };
  await page.route("**/webhooks", (route) => route.fulfill({ json: { webhooks: [webhook] } }));
  await signInAsOwner(fixture);
  await openSection(page, "Webhooks");
  await page.getByText("Failing since").waitFor();
  await inspect(page, "webhooks-failing");
});

test("A project that keeps no changes says where to turn them on", async (fixture) => {
  const { page } = fixture;
  fixture.observer.allow(/status of 409/);
  await signInAsOwner(fixture);
  await openSection(page, "Webhooks");
  await page.getByRole("button", { name: "New webhook" }).click();
  const form = dialog(page, "New webhook");
  await form.getByRole("textbox", { name: "Name", exact: true }).fill("index");
  await form.getByRole("textbox", { name: "Address" }).fill("http://127.0.0.1:9/hook");
  await form.getByRole("button", { name: "Create webhook" }).click();
  await form.getByText("choose for how many days under Activity, Files").waitFor();
  await form.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("link", { name: "keep changes" }).click();
  await page.getByText("Changes of files are not kept").waitFor();
});
