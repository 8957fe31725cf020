/** The part Policy of Settings: what agents may do alone, which hosts they may read, and lasting permissions. */

import { useState } from 'preact/hooks'
import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import { readCommand } from '../api.ts'
import { Button, Card, Section } from '../components.tsx'
import { visibleText } from '../format.ts'
import { NotFetched } from '../tabbed-place.tsx'
import { POLICY_TEXTS } from '../texts/settings/policy.ts'
import { useFetched } from '../use-fetched.ts'
import { ChoiceField, FormError, TextField, useAction } from './form.tsx'
import { Entry, EntryList } from './frame.tsx'
import { Grants } from './grants.tsx'
import { commonTexts, type PartProps } from './parts.ts'

type PolicyShown = CommandOutput<'policy show'>

interface PolicyProps extends PartProps {
  readonly policy: PolicyShown
}

export function Policy(props: PartProps) {
  const { page, language } = props
  const own = POLICY_TEXTS[language]
  const fetched = useFetched(page, '', () => readCommand('policy show'))
  if (fetched.kind !== 'ready') return <NotFetched {...props} state={fetched} />
  const policy = fetched.data
  return (
    <div class="flex flex-col gap-6">
      <p class="max-w-3xl text-muted">{own.intro}</p>
      <Section title={own.rules}>
        <Rules {...props} policy={policy} />
      </Section>
      <div class="grid items-start gap-6 lg:grid-cols-2">
        <Section title={own.hosts}>
          <Hosts {...props} policy={policy} />
        </Section>
        <Section title={own.asking}>
          <Card class="flex flex-col gap-4 px-4 py-4">
            <Unattended {...props} policy={policy} />
            <QuietHours key={policy.quiet_hours} {...props} policy={policy} />
            <p class={policy.sandbox === 'off' ? 'text-wait' : 'text-muted'}>
              {own.sandbox}: {own.sandboxes[policy.sandbox] ?? visibleText(policy.sandbox)}
            </p>
          </Card>
        </Section>
      </div>
      <Section title={own.grants}>
        <Grants {...props} />
      </Section>
    </div>
  )
}

const OUTCOME_CLASSES = { alone: 'text-live', depends: 'text-wait', asks: 'text-ink', denied: 'text-fault' } as const

function Rules({ policy: { rules, unattended }, language }: PolicyProps) {
  const own = POLICY_TEXTS[language]
  const outcome = (found: 'alone' | 'depends' | 'asks') => {
    const shown = found === 'asks' && unattended === 'deny' ? 'denied' : found
    return <span class={OUTCOME_CLASSES[shown]}>{own.outcomes[shown]}</span>
  }
  return (
    <Card class="px-4 py-2">
      <table class="w-full text-left align-top">
        <thead class="label max-sm:sr-only">
          <tr>
            <th class="py-1.5 pr-4 font-medium">{own.call}</th>
            <th class="py-1.5 pr-4 font-medium">{own.before}</th>
            <th class="py-1.5 font-medium">{own.after}</th>
          </tr>
        </thead>
        <tbody class="divide-y divide-line">
          {rules.map(({ kind, before, after }) => (
            <tr key={kind} class="max-sm:flex max-sm:flex-col max-sm:py-2" data-rule={kind}>
              <th scope="row" class="py-1.5 pr-4 font-normal max-sm:py-0 max-sm:font-medium">
                {own.kinds[kind]}
              </th>
              <td class="py-1.5 pr-4 max-sm:py-0">
                {outcome(before)} {before !== after && <span class="label sm:hidden">{own.before}</span>}
              </td>
              <td class={`py-1.5 max-sm:py-0 ${before === after ? 'max-sm:hidden' : ''}`}>
                {outcome(after)} <span class="label sm:hidden">{own.after}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}

function Hosts({ policy: { allow_hosts }, ...props }: PolicyProps) {
  const { page, language } = props
  const [own, common] = [POLICY_TEXTS[language], commonTexts(props)]
  const remove = useAction(page, language)
  return (
    <div class="flex flex-col gap-3">
      {allow_hosts.length > 0 && (
        <EntryList label={own.hosts}>
          {allow_hosts.map((listed) => (
            <Entry
              key={listed}
              name={listed}
              buttons={
                <Button
                  busy={remove.busy}
                  onClick={() =>
                    void remove.run('policy set', { disallow: listed }, own.hostRemoved(visibleText(listed)))
                  }
                >
                  {common.remove}
                </Button>
              }
            >
              <p class="font-mono wrap-anywhere">{visibleText(listed)}</p>
            </Entry>
          ))}
        </EntryList>
      )}
      {allow_hosts.length === 0 && <p class="px-1 text-muted">{own.noHosts}</p>}
      <FormError error={remove.error} />
      <AddHost {...props} />
    </div>
  )
}

function AddHost(props: PartProps) {
  const { page, language } = props
  const [own, common] = [POLICY_TEXTS[language], commonTexts(props)]
  const [host, setHost] = useState('')
  const add = useAction(page, language)
  const save = async (): Promise<void> => {
    const allow = host.trim()
    if (allow !== '' && (await add.run('policy set', { allow }, own.hostAdded(visibleText(allow))))) setHost('')
  }
  return (
    <Card class="px-4 py-4">
      <form
        class="flex flex-col items-start gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <div class="w-full">
          <TextField
            label={own.addHost}
            help={own.hostsHelp}
            error={add.error ?? undefined}
            value={host}
            placeholder={own.hostExample}
            isMono
            onChange={setHost}
          />
        </div>
        <Button type="submit" busy={add.busy}>
          {common.add}
        </Button>
      </form>
    </Card>
  )
}

function Unattended({ policy, ...props }: PolicyProps) {
  const { page, language } = props
  const own = POLICY_TEXTS[language]
  const action = useAction(page, language)
  return (
    <ChoiceField
      label={own.unattended}
      help={own.unattendedHelp}
      error={action.error ?? undefined}
      value={policy.unattended}
      choices={Object.entries(own.unattendedNames) as ['park' | 'deny', string][]}
      onChange={(unattended) => void action.run('policy set', { unattended }, commonTexts(props).saved)}
    />
  )
}

function QuietHours({ policy: { quiet_hours }, ...props }: PolicyProps) {
  const { page, language } = props
  const [own, common] = [POLICY_TEXTS[language], commonTexts(props)]
  const [hours, setHours] = useState(quiet_hours ?? '')
  const action = useAction(page, language)
  return (
    <form
      class="flex flex-col items-start gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        void action.run('policy set', { quiet_hours: hours.trim() || 'none' }, common.saved)
      }}
    >
      <div class="w-full">
        <TextField
          label={own.quiet}
          help={own.quietHelp}
          error={action.error ?? undefined}
          value={hours}
          onChange={setHours}
        />
      </div>
      {hours.trim() !== (quiet_hours ?? '') && (
        <Button type="submit" busy={action.busy}>
          {common.save}
        </Button>
      )}
    </form>
  )
}
