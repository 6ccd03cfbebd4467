/** Returns the path that the server is below, such as `/files`; empty for none. The page is at its root. */
export function basePath(): string {
  return location.pathname.replace(/\/$/, "");
}

/** Returns the address of the server, without a slash at its end. */
export function serverAddress(): string {
  return location.origin + basePath();
}
