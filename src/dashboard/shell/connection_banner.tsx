import { CloudOff, Hourglass } from "lucide";
import { useApp } from "../core/context.ts";
import { Icon } from "../ui/icon.tsx";

const TEXTS = {
  offline: "The server cannot be reached. The page continues as soon as it answers.",
  failing: "The server has a problem. The page tries again every few seconds.",
  slow: "The server takes long to answer.",
};

export function ConnectionBanner() {
  const state = useApp().connection.state.value;
  return (
    <div role="status" class="connection" data-state={state}>
      {state === "online" ? null : (
        <>
          <Icon of={state === "slow" ? Hourglass : CloudOff} />
          {TEXTS[state]}
        </>
      )}
    </div>
  );
}
