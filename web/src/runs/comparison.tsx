/** Two runs side by side, step by step, with the first difference marked. */

import { useEffect, useMemo, useState } from 'preact/hooks'
import { readCommand } from '../api.ts'
import { Button, Card } from '../components.tsx'
import { visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { VirtualList } from '../virtual-list.tsx'
import { ComparedFacts } from './compared-facts.tsx'
import { ComparedStep, type Divergence } from './compared-step.tsx'
import { NotReady } from './not-ready.tsx'
import { type RunsContext, runAddress } from './runs-context.ts'
import { foldRun } from './steps.ts'
import { isEnded, type RunTrace, useTrace } from './use-trace.ts'

interface ComparisonProps {
  readonly context: RunsContext
  readonly page: PageState
  readonly trace: RunTrace
  readonly otherId: string
}

export function Comparison({ context, page, trace, otherId }: ComparisonProps) {
  const { own } = context
  const other = useTrace(page, otherId)
  return (
    <>
      <header class="flex flex-wrap items-center justify-between gap-3">
        <h1 class="text-xl font-semibold tracking-tight">{own.comparison}</h1>
        <a class="label text-link underline underline-offset-2" href={runAddress(trace.dispatch.dispatch_id)}>
          {own.stopComparing}
        </a>
      </header>
      <p class="line-clamp-2 wrap-anywhere text-muted">{visibleText(trace.dispatch.title)}</p>
      {other.kind === 'ready' ? (
        <SideBySide context={context} a={trace} b={other} />
      ) : (
        <NotReady context={context} state={other} />
      )}
    </>
  )
}

interface SideBySideProps {
  readonly context: RunsContext
  readonly a: RunTrace
  readonly b: RunTrace
}

const ROW_PX = 90

function SideBySide({ context, a, b }: SideBySideProps) {
  const { own } = context
  const [stepsA, stepsB] = [useSteps(a), useSteps(b)]
  const difference = useDifference(a, b)
  const [revealed, setRevealed] = useState(-1)
  const differing = difference.kind === 'found' ? difference.at.step : 0
  return (
    <>
      <ComparedFacts context={context} a={a} b={b} />
      <div
        class="flex flex-wrap items-center gap-3"
        role="status"
        data-difference={difference.kind}
        data-at={differing}
      >
        <DifferenceText context={context} difference={difference} />
        {differing > 0 && <Button onClick={() => setRevealed(differing - 1)}>{own.goThere}</Button>}
      </div>
      <Card class="overflow-clip">
        <VirtualList
          count={Math.max(stepsA.length, stepsB.length)}
          rowHeight={ROW_PX}
          label={own.steps}
          reveal={revealed}
          row={(index) => (
            <ComparedStep
              context={context}
              index={index}
              a={stepsA[index]}
              b={stepsB[index]}
              difference={difference.kind === 'found' && differing === index + 1 ? difference.at : undefined}
            />
          )}
        />
      </Card>
    </>
  )
}

const useSteps = ({ dispatch, events }: RunTrace) =>
  useMemo(() => foldRun(dispatch.dispatch_id, events).steps, [dispatch.dispatch_id, events])

type Difference =
  | { readonly kind: 'loading' | 'none' | 'open' | 'other_tasks' }
  | { readonly kind: 'found'; readonly at: Divergence }

/** Only runs of one task that have ended can be compared by the server. */
function useDifference(a: RunTrace, b: RunTrace): Difference {
  const [difference, setDifference] = useState<Difference>({ kind: 'loading' })
  const isOpen = !isEnded(a.dispatch) || !isEnded(b.dispatch)
  useEffect(() => {
    if (isOpen) return
    readCommand('compare', { a: a.dispatch.dispatch_id, b: b.dispatch.dispatch_id }).then(
      ({ first_divergence: at }) => setDifference(at ? { kind: 'found', at } : { kind: 'none' }),
      () => setDifference({ kind: 'other_tasks' }),
    )
  }, [isOpen, a.dispatch.dispatch_id, b.dispatch.dispatch_id])
  return isOpen ? { kind: 'open' } : difference
}

interface DifferenceTextProps {
  readonly context: RunsContext
  readonly difference: Difference
}

function DifferenceText({ context: { own, texts }, difference }: DifferenceTextProps) {
  if (difference.kind === 'found') {
    const { step, phase } = difference.at
    return <p class="font-medium">{own.firstDifference(step, texts.phases[phase] ?? phase)}</p>
  }
  if (difference.kind === 'none') return <p class="font-medium">{own.identical}</p>
  if (difference.kind === 'open') return <p class="text-muted">{own.notEnded}</p>
  return difference.kind === 'other_tasks' ? <p class="text-muted">{own.notComparable}</p> : null
}
