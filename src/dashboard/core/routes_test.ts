import { assertEquals } from "@std/assert";
import { links } from "./links.js";
import { findRoute } from "./routes.js";

Deno.test("Links and routes agree for all characters in names", () => {
  const names = ["photos", "a b", "ü/ñ", "100%", "#?&=", "..", "🦖", "%2F"];
  const paths = ["", "pets/", "a//b/", "/", "//", "../", "a/./b/", "ü%/", "🦖/"];
  for (const project of names) {
    assertEquals(findRoute(links.project(project))?.params.project, project);
    for (const drive of names) {
      for (const path of paths) {
        const route = findRoute(links.files(project, drive, path));
        assertEquals(route?.section, "files");
        assertEquals(route?.params, { project, drive, path, app: "" });
      }
    }
  }
});

Deno.test("Every section has its address", () => {
  const cases = [
    ["#/projects", "projects"],
    [links.projects(), "projects"],
    [links.project("p"), "project"],
    [links.drives("p"), "files"],
    [links.uploads("p"), "uploads"],
    [links.applications("p"), "apps"],
    [links.application("p", "viewer"), "apps"],
    [links.connect("p"), "connect"],
  ];
  for (const [hash = "", section] of cases) assertEquals(findRoute(hash)?.section, section, hash);
  assertEquals(findRoute(links.application("p", "viewer"))?.params.app, "viewer");
});

Deno.test("An unknown address has no route", () => {
  const hashes = [
    "",
    "#",
    "#/",
    "#/x",
    "#/p",
    "#/p/",
    "#/p/a/x",
    "#/p/a/connect/x",
    "#/projects/x",
    "#/p/%",
    "#/p/a/apps/b/c",
  ];
  for (const hash of hashes) assertEquals(findRoute(hash), undefined, hash);
});
