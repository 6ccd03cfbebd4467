/**
 * The addresses of the views, behind the `#`. Every segment is percent-encoded, so names may have any characters.
 *
 * @module
 */

/** @param {...string} segments */
function address(...segments) {
  return `#/${segments.map(encodeURIComponent).join("/")}`;
}

export const links = {
  projects: () => "#/projects",
  /** @param {string} project */
  project: (project) => address("p", project),
  /** @param {string} project */
  drives: (project) => address("p", project, "files"),
  /**
   * A folder of a drive.
   *
   * @param {string} project @param {string} drive
   * @param {string} [path] A prefix of names: empty, or ending with `/`.
   */
  files: (project, drive, path = "") =>
    address("p", project, "files", drive, ...(path === "" ? [] : path.split("/"))),
  /** @param {string} project */
  uploads: (project) => address("p", project, "uploads"),
  /** @param {string} project */
  applications: (project) => address("p", project, "apps"),
  /** @param {string} project @param {string} app */
  application: (project, app) => address("p", project, "apps", app),
  /** @param {string} project */
  connect: (project) => address("p", project, "connect"),
};
