/** Lasting permissions of agents, each of which can be revoked. */

import { useState } from 'preact/hooks'
import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import { readCommand } from '../api.ts'
import { Button, Card, Empty } from '../components.tsx'
import { relativeTime, visibleText } from '../format.ts'
import { NotFetched } from '../tabbed-place.tsx'
import { POLICY_TEXTS } from '../texts/settings/policy.ts'
import { useFetched } from '../use-fetched.ts'
import { FormError, useAction } from './form.tsx'
import { Confirm, Entry, EntryList } from './frame.tsx'
import type { PartProps } from './parts.ts'

type Grant = CommandOutput<'grants list'>['items'][number]

const isFromConfig = ({ id }: Grant): boolean => id.startsWith('policy.')

export function Grants(props: PartProps) {
  const { page, language } = props
  const own = POLICY_TEXTS[language]
  const [asked, setAsked] = useState<Grant | null>(null)
  const action = useAction(page, language)
  const fetched = useFetched(page, '', () => readCommand('grants list'))
  if (fetched.kind !== 'ready') return <NotFetched {...props} state={fetched} />
  const { items } = fetched.data
  if (items.length === 0)
    return (
      <Card>
        <Empty>{own.noGrants}</Empty>
      </Card>
    )
  return (
    <div class="flex flex-col gap-2">
      <FormError error={action.error} />
      <EntryList label={own.grants}>
        {items.map((grant) => (
          <Entry
            key={grant.id}
            name={grant.id}
            buttons={
              isFromConfig(grant) ? undefined : (
                <Button busy={action.busy} onClick={() => setAsked(grant)}>
                  {own.revoke}
                </Button>
              )
            }
          >
            <p class="wrap-anywhere">
              <span class="font-mono text-act">{visibleText(grant.tool)}</span>{' '}
              {grant.to.length > 0 && own.grantTo(visibleText(grant.to.join(', ')))}
            </p>
            <p class="label wrap-anywhere">{describeGrant(grant, props).join(' · ')}</p>
          </Entry>
        ))}
      </EntryList>
      {asked && (
        <Confirm
          {...props}
          title={own.revokeTitle}
          yes={own.revoke}
          busy={action.busy}
          onClose={() => setAsked(null)}
          onYes={() => {
            setAsked(null)
            void action.run('grants revoke', { id: asked.id }, own.revoked)
          }}
        >
          <p class="font-mono text-act">{visibleText(asked.tool)}</p>
          <p>{own.revokeHelp}</p>
        </Confirm>
      )}
    </div>
  )
}

function describeGrant(grant: Grant, { language, page }: PartProps): readonly string[] {
  const own = POLICY_TEXTS[language]
  const { agent_id, session_id, expires_at, args } = grant
  const ends = expires_at === null ? own.grantForever : own.grantUntil(untilWhen(expires_at, page.view.skew, language))
  return [
    agent_id === null ? own.anyAgent : own.grantAgent(visibleText(agent_id)),
    session_id === null ? ends : own.grantSession,
    ...(args === null ? [] : [own.grantArgs]),
    ...(isFromConfig(grant) ? [own.fromConfig] : []),
  ]
}

const untilWhen = (at: string, skew: number, language: PartProps['language']): string =>
  relativeTime(Date.parse(at), Date.now() + skew, language)
