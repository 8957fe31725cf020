/** Residents: state, rate, last look, what each knows and lacks, why it does nothing; a field to write to it. */

import { useState } from 'preact/hooks'
import type { Resident } from '../api-types.ts'
import { Button, Card, Dot, Section, type Tone } from '../components.tsx'
import { countdown, oneLine, visibleText, wholeDuration } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { plainLine } from '../plain-line.ts'
import type { ViewContext } from '../view-context.ts'

const MAX_RESIDENTS = 50

const TONES: Readonly<Record<Resident['state'], Tone>> = { idle: 'other', looking: 'live', backing_off: 'fault' }

export function Residents({ context, page }: { readonly context: ViewContext; readonly page: PageState }) {
  const { status } = page.view
  const residents = status?.residents ?? []
  if (residents.length === 0) return null
  const { texts } = context
  return (
    <Section title={texts.residents} note={String(residents.length)}>
      <Card class="max-h-[32rem] overflow-y-auto">
        <ul class="divide-y divide-line">
          {residents.slice(0, MAX_RESIDENTS).map((resident) => (
            <li
              key={resident.agent_id}
              class="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 px-4 py-3"
              data-resident={resident.agent_id}
              data-resident-state={resident.state}
            >
              <span class="flex h-5 items-center">
                <Dot tone={TONES[resident.state]} pulsing={resident.state === 'looking'} />
              </span>
              <div class="flex min-w-0 flex-col gap-1.5">
                <Heading context={context} resident={resident} />
                <LastAction context={context} resident={resident} />
                <Slots context={context} resident={resident} />
                <Message context={context} page={page} agent={resident.agent_id} />
              </div>
            </li>
          ))}
          {residents.length > MAX_RESIDENTS && (
            <li class="label px-4 py-2">{texts.more(residents.length - MAX_RESIDENTS)}</li>
          )}
        </ul>
      </Card>
    </Section>
  )
}

interface PartProps {
  readonly context: ViewContext
  readonly resident: Resident
}

function Heading({ context: { texts, language, now }, resident }: PartProps) {
  const { agent_id, state, hz, last_look, next_look, unread } = resident
  const looked =
    last_look === null ? texts.neverLooked : texts.looked(wholeDuration(now - Date.parse(last_look), language))
  const isWaiting = next_look !== null && unread > 0 && state !== 'looking'
  return (
    <span class="flex flex-wrap items-baseline justify-between gap-x-3">
      <span class="font-medium">
        {agent_id} <span class="label ml-1 font-normal">{texts.residentStates[state]}</span>
      </span>
      <span class="label figures">
        {`${Number(hz.toFixed(3))} Hz · ${looked}`}
        {unread > 0 && <span class="text-wait" data-unread={unread}>{` · ${texts.unread(unread)}`}</span>}
        {isWaiting && ` · ${texts.looksAgain(countdown(Date.parse(next_look) - now, language))}`}
      </span>
    </span>
  )
}

/** What the last look came to, then why the resident does nothing now. */
export function LastAction({ context: { texts, language }, resident }: PartProps) {
  const { last_action, why, why_zh, state } = resident
  const reason = oneLine(language === 'zh' ? why_zh : why)
  return (
    <>
      {last_action !== null && last_action.action !== 'noop' && (
        <p class="line-clamp-3 wrap-anywhere" data-said={last_action.action}>
          <span class="text-muted">{last_action.action === 'say' ? texts.says : texts.asks}</span>{' '}
          {plainLine(last_action.text)}
        </p>
      )}
      <p class={`line-clamp-2 wrap-anywhere ${state === 'backing_off' ? 'text-fault' : 'text-muted'}`}>{reason}</p>
    </>
  )
}

const CHIP_CLASSES = 'max-w-full truncate rounded-md border px-1.5 text-[12px] leading-5'

export function Slots({ context: { texts }, resident: { known, missing } }: PartProps) {
  const entries = Object.entries(known)
  if (entries.length === 0 && missing.length === 0) return null
  return (
    <ul class="flex flex-wrap gap-1.5">
      {entries.map(([name, value]) => (
        <li key={name} class={`${CHIP_CLASSES} border-line bg-sunken`} title={visibleText(`${name}: ${value}`)}>
          <span class="text-muted">{visibleText(name)}</span> {oneLine(value)}
        </li>
      ))}
      {missing.map((name) => (
        <li
          key={name}
          class={`${CHIP_CLASSES} border-dashed border-wait text-wait`}
          title={texts.missing(visibleText(name))}
        >
          {visibleText(name)} ?
        </li>
      ))}
    </ul>
  )
}

interface MessageProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly agent: string
}

export function Message({ context: { texts }, page, agent }: MessageProps) {
  const [text, setText] = useState('')
  const busy = `observe ${agent}`
  const isBusy = page.view.busy.has(busy)
  const send = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (text.trim() === '' || isBusy) return
    const input = { agent, type: 'user_message', payload: JSON.stringify({ text }) }
    const sent = await page.run('observe', input, { busy, done: texts.sentTo(agent) })
    if (sent) setText('')
  }
  return (
    <form class="mt-0.5 flex flex-wrap gap-2" onSubmit={send}>
      <input
        class="min-w-0 flex-1 rounded-md border border-line bg-surface px-2.5 py-1 placeholder:text-muted"
        type="text"
        name={`message-${agent}`}
        autocomplete="off"
        aria-label={texts.writeTo(agent)}
        placeholder={texts.writeTo(agent)}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <Button type="submit" busy={isBusy}>
        {texts.send}
      </Button>
    </form>
  )
}
