import { createContext } from "preact";
import { useContext, useEffect, useMemo } from "preact/hooks";
import { useApp } from "../core/context.ts";
import { Transfers } from "./transfers.ts";

export const TransfersContext = createContext<Transfers | undefined>(undefined);

/** Makes the transfers of a session, for the shell. */
export function useTransfers(): Transfers {
  const app = useApp();
  const transfers = useMemo(() => new Transfers(app), []);
  useEffect(() => {
    transfers.open();
    return () => transfers.close();
  }, []);
  return transfers;
}

/** Returns the transfers of the session. To be called while a component renders. */
export function useSharedTransfers(): Transfers {
  const transfers = useContext(TransfersContext);
  if (transfers === undefined) {
    throw new Error("There is no TransfersContext around this component");
  }
  return transfers;
}
