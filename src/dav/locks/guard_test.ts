import { assertEquals, assertRejects } from "@std/assert";
import type { Place } from "../../store/engine/records.ts";
import type { DavCall, DavDeps } from "../dav_call.ts";
import { DavError } from "../dav_error.ts";
import { holderOf } from "./guard.ts";

Deno.test("Many conditions read the locks of a drive once", async () => {
  const read: string[] = [];
  const store = {
    folderExists: () => Promise.resolve(false),
    files: { reader: { stat: () => Promise.resolve(undefined) } },
    locks: {
      read({ drive }: Pick<Place, "drive">) {
        read.push(drive);
        return Promise.resolve({ locks: [], unchanged: [] });
      },
    },
  };
  const header = "</dav/p/d/a> (<urn:a>) </dav/p/d/b> (<urn:b>) </dav/p/e/c> (<urn:c>) (<urn:d>)";
  const call = {
    project: "p",
    request: new Request("http://localhost/", { headers: { If: header } }),
    rights: { requireDrive: () => {} },
    origin: () => "http://localhost",
  } as unknown as DavCall;
  const deps = { store, basePath: "", share: {} } as unknown as DavDeps;
  const place = { project: "p", drive: "d", name: "a" };
  const held = holderOf(call, deps, { kind: "absent", place, isFolder: false });
  await assertRejects(() => held, DavError, "header If");
  assertEquals(read, ["d", "e"]);
});
