/** In place of a run that is on its way, or that does not exist. */

import { Card } from '../components.tsx'
import type { RunsContext } from './runs-context.ts'
import type { TraceState } from './use-trace.ts'

export function NotReady({ context: { own }, state }: { readonly context: RunsContext; readonly state: TraceState }) {
  if (state.kind === 'loading') return <p class="text-muted">{own.loading}</p>
  return (
    <Card class="p-6">
      <h1 class="text-lg font-semibold">{own.missingTitle}</h1>
      <p class="mt-1 wrap-anywhere text-muted">
        {state.kind === 'failed' ? own.failedToLoad(state.reason) : own.missing}
      </p>
    </Card>
  )
}
