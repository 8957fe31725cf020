/** The page of an agent that is set up elsewhere: a resident, or the built-in one. */

import { readCommand } from '../api.ts'
import { Card, Empty, Section } from '../components.tsx'
import { money, relativeTime, visibleText } from '../format.ts'
import { LastAction, Message, Slots } from '../now/residents.tsx'
import type { PageState } from '../page-state.ts'
import { AGENTS_TEXTS } from '../texts/agents.ts'
import { useFetched } from '../use-fetched.ts'
import type { ViewContext } from '../view-context.ts'
import { Chip } from './agent-row.tsx'

interface OtherAgentProps {
  readonly page: PageState
  readonly context: ViewContext
  readonly id: string
}

export function OtherAgent({ page, context, id }: OtherAgentProps) {
  const { language, now } = context
  const own = AGENTS_TEXTS[language]
  const list = useFetched(page, '', () => readCommand('agent list'))
  if (list.kind !== 'ready') return null
  const found = list.data.others.find(({ agent_id }) => agent_id === id)
  if (!found)
    return (
      <Card>
        <Empty>{own.notFound(visibleText(id))}</Empty>
      </Card>
    )
  const resident = page.view.status?.residents.find(({ agent_id }) => agent_id === id)
  return (
    <div class="flex flex-col gap-3" data-agent-page={id}>
      <h1 class="text-xl font-semibold tracking-tight wrap-anywhere">
        {visibleText(id)}
        <Chip>{own.kinds[found.kind]}</Chip>
      </h1>
      {!resident && <p class="text-muted">{own.builtIn}</p>}
      {resident && (
        <>
          {resident.goals.map((goal) => (
            <p key={goal} class="wrap-anywhere">
              {visibleText(goal)}
            </p>
          ))}
          <p class="text-muted">
            {own.residentWhen(String(Number(resident.hz.toFixed(3))))}
            {resident.last_look !== null && ` · ${relativeTime(Date.parse(resident.last_look), now, language)}`}
          </p>
          <LastAction context={context} resident={resident} />
          <Slots context={context} resident={resident} />
          <Message context={context} page={page} agent={id} />
          <p class="label">{own.residentNote}</p>
        </>
      )}
      <Section title={own.columns.week}>
        <Card class="figures px-4 py-3">{money(found.usd_week, language)}</Card>
      </Section>
    </div>
  )
}
