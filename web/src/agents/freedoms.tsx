/** What an agent may do without asking, and by which rules it works. */

import { readCommand } from '../api.ts'
import type { AgentDetails } from '../api-types.ts'
import { Button, Card, Empty, Section } from '../components.tsx'
import { type Language, relativeTime, visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { AGENT_TEXTS } from '../texts/agent.ts'
import { useFetched } from '../use-fetched.ts'
import type { ViewContext } from '../view-context.ts'

interface GrantsProps {
  readonly page: PageState
  readonly context: ViewContext
  readonly id: string
}

export function Grants({ page, context: { language, now }, id }: GrantsProps) {
  const own = AGENT_TEXTS[language]
  const fetched = useFetched(page, id, () => readCommand('grants list'))
  if (fetched.kind !== 'ready') return null
  const grants = fetched.data.items.filter(({ agent_id }) => agent_id === null || agent_id === id)
  const revoke = (grant: string, tool: string) =>
    page.run('grants revoke', { id: grant }, { busy: `grant ${grant}`, done: own.revoked(visibleText(tool)) })
  return (
    <Section title={own.grants}>
      <Card>
        {grants.length === 0 && <Empty>{own.noGrants}</Empty>}
        <ul class="divide-y divide-line">
          {grants.map(({ id: grant, tool, to, agent_id, expires_at }) => (
            <li key={grant} class="flex items-center justify-between gap-3 px-4 py-2.5" data-grant={grant}>
              <span class="min-w-0 wrap-anywhere">
                <span class="font-mono text-[13px] text-act">{visibleText(tool)}</span>{' '}
                {to.length > 0 && own.grantTo(visibleText(to.join(', ')))}
                <span class="label block">
                  {[
                    agent_id === null ? own.anyAgent : '',
                    expires_at === null ? '' : own.expires(relativeTime(Date.parse(expires_at), now, language)),
                    grant.startsWith('policy.') ? own.fromConfig : '',
                  ]
                    .filter((part) => part !== '')
                    .join(' · ')}
                </span>
              </span>
              {!grant.startsWith('policy.') && (
                <Button busy={page.view.busy.has(`grant ${grant}`)} onClick={() => void revoke(grant, tool)}>
                  {own.revoke}
                </Button>
              )}
            </li>
          ))}
        </ul>
      </Card>
    </Section>
  )
}

interface BehavioursProps {
  readonly language: Language
  readonly agent: AgentDetails
}

export function Behaviours({ language, agent: { behaviours, on_call } }: BehavioursProps) {
  const own = AGENT_TEXTS[language]
  const groups = [
    { title: own.ownBehaviours, items: behaviours.filter((behaviour) => behaviour.own) },
    { title: own.sharedBehaviours, items: behaviours.filter((behaviour) => !behaviour.own) },
  ].filter(({ items }) => items.length > 0)
  return (
    <Section title={own.behaviours}>
      <Card class="flex flex-col gap-2 px-4 py-3">
        {!on_call && <p>{own.atBeats}</p>}
        {groups.map(({ title, items }) => (
          <p key={title}>
            <span class="label block">{title}</span>
            <span class="font-mono text-[13px] wrap-anywhere">
              {visibleText(items.map(({ name }) => name).join(', '))}
            </span>
          </p>
        ))}
      </Card>
    </Section>
  )
}
