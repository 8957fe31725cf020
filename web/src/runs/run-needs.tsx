/** What a run waits for, answered in place, and the plan of its session. */

import { readCommand } from '../api.ts'
import { Card } from '../components.tsx'
import { ApprovalCard } from '../needs-you/approval-card.tsx'
import { ListedNeedCard } from '../needs-you/listed-need-card.tsx'
import { listNeeds, type Need } from '../needs-you/needs.ts'
import { QuestionCard, UnknownCard } from '../needs-you/other-cards.tsx'
import type { PageState } from '../page-state.ts'
import { Todos } from '../talk/todos.tsx'
import { useFetched } from '../use-fetched.ts'
import type { RunsContext } from './runs-context.ts'
import type { RunDetails } from './use-trace.ts'

interface RunNeedsProps {
  readonly context: RunsContext
  readonly page: PageState
  readonly dispatch: RunDetails
}

export function RunNeeds({ context, page, dispatch }: RunNeedsProps) {
  const needs = listNeeds(page.view).filter((need) => isOfRun(need, dispatch))
  return (
    <>
      {needs.map((need) => (
        <NeedOfRun key={`${need.kind} ${need.id}`} context={context} page={page} need={need} />
      ))}
      <Plan context={context} page={page} session={dispatch.session_id} />
    </>
  )
}

function isOfRun(need: Need, { dispatch_id, session_id }: RunDetails): boolean {
  if (need.kind === 'approval') return need.approval.session_id === session_id
  if (need.kind === 'unknown') return need.unknown.dispatch_id === dispatch_id
  if (need.kind === 'other') return need.listed.run_id === dispatch_id
  return need.kind === 'question' && need.dispatch.dispatch_id === dispatch_id
}

interface NeedProps {
  readonly context: RunsContext
  readonly page: PageState
  readonly need: Need
}

function NeedOfRun({ need, ...props }: NeedProps) {
  if (need.kind === 'approval') return <ApprovalCard {...props} approval={need.approval} />
  if (need.kind === 'unknown') return <UnknownCard {...props} unknown={need.unknown} />
  if (need.kind === 'other') return <ListedNeedCard {...props} listed={need.listed} />
  return <QuestionCard {...props} dispatch={need.dispatch} />
}

interface PlanProps {
  readonly context: RunsContext
  readonly page: PageState
  readonly session: string
}

function Plan({ context, page, session }: PlanProps) {
  const fetched = useFetched(page, `todos ${session}`, () => readCommand('todo list', { session }))
  const todos = fetched.kind === 'ready' ? fetched.data.items : []
  if (todos.length === 0) return null
  return (
    <section data-plan>
      <h2 class="mb-2 px-1 font-semibold">{context.own.plan}</h2>
      <Card class="px-5 py-4">
        <Todos context={context} todos={todos} />
      </Card>
    </section>
  )
}
