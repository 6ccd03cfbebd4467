import { assertEquals } from "@std/assert";
import { actorText, eventText } from "./event_text.ts";

Deno.test("Events say in words what was changed, and to what", () => {
  const cases = [
    ["key.created", "7DiqI7D5", "Key created: 7DiqI7D5"],
    ["app.deleted", "album/wiki", "Application deleted: album/wiki"],
    ["quota.changed", "max_bytes=5000000000", "Limit changed: 5 GB"],
    ["quota.changed", "album/max_bytes=null", "Limit changed: none (album)"],
    ["trash.changed", "trash_days=1", "Trash changed: 1 day"],
    ["trash.changed", "trash_days=0", "Trash changed: off"],
    ["changes.changed", "change_days=7", "Feed of changes changed: 7 days"],
    ["host_suffix.changed", "host_suffix=a.b", "Domain for applications changed: a.b"],
    ["link.created", "a=b", "Link created: a=b"],
    ["dashboard.signed_in", "01M82RCJBWVSZHBQ4ACYF6KXF3", "Signed in to the dashboard"],
    ["link_key.rotated", "", "All links revoked"],
  ] as const;
  for (const [event, target, text] of cases) assertEquals(eventText({ event, target }), text);
  assertEquals(actorText("admin"), "Administrator");
  assertEquals(actorText("7DiqI7D5"), "Key 7DiqI7D5…");
});

Deno.test("Events have the names of keys and links that exist", () => {
  const names = new Map([["7DiqI7D5", "backup"], ["01LINK", "photos/cat.jpg"]]);
  const created = { event: "key.created", target: "7DiqI7D5" } as const;
  assertEquals(eventText(created, names), "Key created: backup");
  const shared = { event: "link.created", target: "01LINK" } as const;
  assertEquals(eventText(shared, names), "Link created: photos/cat.jpg");
  assertEquals(actorText("7DiqI7D5", names), "Key “backup”");
  assertEquals(actorText("gone1234", names), "Key gone1234…");
  const projects = new Map([["album", "Photo album"]]);
  const limited = { event: "quota.changed", target: "album/max_bytes=null" } as const;
  assertEquals(eventText(limited, projects), "Limit changed: none (Photo album)");
  const deleted = { event: "app.deleted", target: "album/wiki" } as const;
  assertEquals(eventText(deleted, projects), "Application deleted: wiki (Photo album)");
});
