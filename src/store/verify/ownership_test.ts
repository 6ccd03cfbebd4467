import { assertEquals } from "@std/assert";
import { identityOf, keys } from "../engine/keys.ts";
import { PendingDeletions } from "./ownership.ts";
import type { Snapshot } from "./snapshot.ts";

/** The deletions in a snapshot with these markers. */
function deletionsWith(...markers: Deno.KvKey[]): PendingDeletions {
  const present = new Set(markers.map(identityOf));
  const has = (key: Deno.KvKey) => present.has(identityOf(key));
  return new PendingDeletions({ has } as unknown as Snapshot);
}

Deno.test("a drive is being deleted if it or its project is", () => {
  const ofDrive = deletionsWith(keys.driveDeletion("p", "d"));
  assertEquals([ofDrive.hasDrive("p", "d"), ofDrive.hasDrive("p", "e")], [true, false]);
  assertEquals([ofDrive.hasProject("p"), ofDrive.hasDrive("q", "d")], [false, false]);
  const ofProject = deletionsWith(keys.projectDeletion("p"));
  assertEquals([ofProject.hasDrive("p", "d"), ofProject.hasDrive("q", "d")], [true, false]);
});

Deno.test("an application is being deleted if it or its project is", () => {
  const ofApp = deletionsWith(keys.appDeletion("p", "a"));
  assertEquals([ofApp.hasApp("p", "a"), ofApp.hasApp("p", "b")], [true, false]);
  assertEquals(deletionsWith(keys.projectDeletion("p")).hasApp("p", "a"), true);
});
