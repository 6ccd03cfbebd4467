import { STATUS_TEXT } from "@std/http/status";

/** Where the standard library differs from RFC 9110 and RFC 4918. */
const REGISTERED: Readonly<Record<number, string>> = {
  203: "Non-Authoritative Information",
  207: "Multi-Status",
  407: "Proxy Authentication Required",
  422: "Unprocessable Content",
};

/** Returns the reason phrase of a status, or an empty text for an unregistered one. */
export function reasonPhrase(status: number): string {
  return REGISTERED[status] ?? STATUS_TEXT[status] ?? "";
}
