/** One agent, by its address `/agents/ID`: what it did, when it runs, what it costs, all its settings. */

import { useState } from 'preact/hooks'
import { readCommand } from '../api.ts'
import type { AgentDetails } from '../api-types.ts'
import { Button } from '../components.tsx'
import { visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import type { PlaceProps } from '../shell/place.tsx'
import { NotFetched } from '../tabbed-place.tsx'
import { AGENT_TEXTS } from '../texts/agent.ts'
import { AGENTS_TEXTS } from '../texts/agents.ts'
import { useFetched } from '../use-fetched.ts'
import { useViewContext, type ViewContext } from '../view-context.ts'
import { Chip, EnableSwitch, RunNow } from './agent-row.tsx'
import { DeleteAgent } from './delete-agent.tsx'
import { EditForm } from './edit-form.tsx'
import { Behaviours, Grants } from './freedoms.tsx'
import { CostOfWeek, LatelyDone, Times } from './lately.tsx'
import { OtherAgent } from './other-agent.tsx'
import { Settings } from './settings.tsx'
import { TaskField } from './task-field.tsx'

export function AgentPage(props: PlaceProps) {
  const { page, language, params } = props
  const id = params.id ?? ''
  const own = AGENTS_TEXTS[language]
  const context = useViewContext(props, 10_000)
  const agents = page.view.status?.agents
  const isKnown = agents?.some(({ agent_id }) => agent_id === id) ?? false
  return (
    <div class="flex flex-col gap-5">
      <a class="label w-fit hover:text-ink hover:underline" href="/agents">
        ← {own.backToList}
      </a>
      {isKnown && <FetchedAgent key={id} {...{ page, context, id }} />}
      {agents && !isKnown && <OtherAgent {...{ page, context, id }} />}
    </div>
  )
}

function FetchedAgent({ page, context, id }: Omit<AgentProps, 'agent'> & { readonly id: string }) {
  const state = useFetched(page, id, () => readCommand('agent show', { id }))
  if (state.kind !== 'ready') return <NotFetched language={context.language} state={state} />
  return <OneAgent {...{ page, context }} agent={state.data} />
}

interface AgentProps {
  readonly page: PageState
  readonly context: ViewContext
  readonly agent: AgentDetails
}

function OneAgent({ page, context, agent }: AgentProps) {
  const [isEditing, setEditing] = useState(false)
  return (
    <>
      <AgentHeader {...{ page, context, agent, isEditing }} edit={() => setEditing(true)} />
      {isEditing ? (
        <EditForm {...{ page, context, agent }} onClose={() => setEditing(false)} />
      ) : (
        <div class="grid gap-8 lg:grid-cols-[minmax(0,5fr)_minmax(0,3fr)]">
          <div class="flex min-w-0 flex-col gap-8">
            {agent.on_call && <TaskField page={page} language={context.language} id={agent.agent_id} />}
            <LatelyDone context={context} agent={agent} />
            <Settings language={context.language} agent={agent} />
          </div>
          <div class="flex min-w-0 flex-col gap-8">
            <Times context={context} agent={agent} />
            <CostOfWeek language={context.language} agent={agent} />
            <Grants {...{ page, context }} id={agent.agent_id} />
            <Behaviours language={context.language} agent={agent} />
          </div>
        </div>
      )}
    </>
  )
}

interface HeaderProps extends AgentProps {
  readonly isEditing: boolean
  edit(): void
}

function AgentHeader({ page, context: { texts, language }, agent, isEditing, edit }: HeaderProps) {
  const [own, list] = [AGENT_TEXTS[language], AGENTS_TEXTS[language]]
  const { agent_id, on_call, does } = agent
  return (
    <header class="flex flex-wrap items-start justify-between gap-x-6 gap-y-3" data-agent-page={agent_id}>
      <div class="min-w-0 max-w-prose">
        <h1 class="text-xl font-semibold tracking-tight wrap-anywhere">
          {visibleText(agent_id)}
          {on_call && <Chip>{list.kinds.on_call}</Chip>}
        </h1>
        <p class="wrap-anywhere text-muted">{visibleText(does)}</p>
      </div>
      {!isEditing && (
        <div class="flex flex-wrap items-center gap-2">
          {!on_call && <EnableSwitch {...{ page, language, agent }} />}
          {!on_call && <RunNow page={page} language={language} id={agent_id} />}
          <Button onClick={edit}>{own.edit}</Button>
          <DeleteAgent {...{ page, texts, own, agent }} />
        </div>
      )}
    </header>
  )
}
