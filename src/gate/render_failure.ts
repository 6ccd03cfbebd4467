import { errors, type HttpError } from "../http/http_error.ts";
import { toHttpError } from "../http/render_error.ts";
import type { Exchange } from "./exchange.ts";
import { Malformed } from "../http1/malformed.ts";
import { ConnectionLost } from "../http1/wire.ts";
import { RefusedUpstream } from "./upstreams.ts";

/** What a caller is told of whatever was thrown, before an application was asked or while it was. */
export function renderFailure(error: unknown, exchange: Exchange | undefined): HttpError {
  return exchange === undefined ? renderRefusal(error) : renderExchange(error, exchange);
}

function renderRefusal(error: unknown): HttpError {
  if (error instanceof Malformed) return errors.badMessage(error.status, error.message);
  return toHttpError(error);
}

/** What was wrong with an application, of which nothing inner is told, or with the rest of the request. */
function renderExchange(error: unknown, { aborted, malformed }: Exchange): HttpError {
  if (malformed !== undefined) return renderRefusal(malformed);
  if (aborted === "caller silent") return errors.silentCaller();
  if (aborted === "upstream slow") return errors.slowUpstream();
  if (error instanceof RefusedUpstream) return errors.refusedUpstream();
  if (error instanceof Malformed) return errors.badUpstream();
  if (error instanceof ConnectionLost) return errors.deadUpstream();
  return toHttpError(error);
}
