/** One fact: what it says, who noted it and from what; where it comes from; and how to forget it. */

import { useState } from 'preact/hooks'
import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import { readCommand } from '../api.ts'
import { Button } from '../components.tsx'
import { Dialog, DialogButtons } from '../dialog.tsx'
import { clockTime, relativeTime, visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import type { MemoryTexts } from '../texts/memory.ts'
import { useFetched } from '../use-fetched.ts'
import type { ViewContext } from '../view-context.ts'
import { LabelWords } from './labels.tsx'

export type FactEntry = CommandOutput<'memory list'>['items'][number]

interface FactRowProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly own: MemoryTexts
  readonly fact: FactEntry
  readonly isOpen: boolean
  onToggle(): void
}

export function FactRow({ context, page, own, fact, isOpen, onToggle }: FactRowProps) {
  const { key, text, agent_id, status, created_at, expires_at } = fact
  const { language, now } = context
  const at = Date.parse(created_at)
  return (
    <article class="px-4 py-3 sm:px-5" data-fact={key} aria-label={visibleText(key)}>
      <h2 class="font-medium wrap-anywhere">{visibleText(key)}</h2>
      <p class="wrap-anywhere whitespace-pre-wrap">
        {text === '' ? <span class="text-muted">{own.textErased}</span> : visibleText(text)}
      </p>
      <div class="mt-1.5 flex flex-wrap items-center gap-x-4 gap-y-1.5">
        <LabelWords own={own} label={fact} />
        <span class="label wrap-anywhere" title={clockTime(at, now, language)}>
          {own.noted(visibleText(agent_id), relativeTime(at, now, language))}
          {expires_at !== null && ` · ${own.expires(relativeTime(Date.parse(expires_at), now, language))}`}
          {status !== 'known' && ` · ${own.factStatuses[status]}`}
        </span>
        <span class="ml-auto flex gap-2">
          <Button onClick={onToggle}>{isOpen ? own.hide : own.origin}</Button>
          {status === 'known' && <ForgetButton {...{ context, page, own, fact }} />}
        </span>
      </div>
      {isOpen && <Origin {...{ context, page, own, fact }} />}
    </article>
  )
}

type PartProps = Omit<FactRowProps, 'isOpen' | 'onToggle'>

function Origin({ context: { language, now }, page, own, fact }: PartProps) {
  const { key, agent_id: agent, id } = fact
  const state = useFetched(page, id, () => readCommand('memory show', { key, agent }))
  if (state.kind === 'failed') return <p class="mt-2 text-fault">{visibleText(state.reason)}</p>
  if (state.kind !== 'ready') return null
  const { versions, written_by } = state.data
  const earlier = versions.slice(1).filter(({ text }) => text !== '')
  return (
    <div class="mt-3 rounded-lg border border-line px-3 py-2.5" data-origin={key}>
      <p class="label">{own.originRun}</p>
      {written_by ? (
        <a
          class="text-link underline underline-offset-2 wrap-anywhere"
          href={`/runs/${encodeURIComponent(written_by.run_id)}`}
        >
          {visibleText(written_by.task)}
        </a>
      ) : (
        <p>{own.originGone}</p>
      )}
      {earlier.length > 0 && <p class="label mt-2">{own.earlier}</p>}
      <ul>
        {earlier.map(({ id: each, text, created_at }) => (
          <li key={each} class="wrap-anywhere">
            {visibleText(text)} <span class="label">{relativeTime(Date.parse(created_at), now, language)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

function ForgetButton({ context: { texts }, page, own, fact }: PartProps) {
  const [isAsking, setAsking] = useState(false)
  const { key, agent_id: agent, text } = fact
  const name = visibleText(key)
  const busy = `forget ${agent} ${key}`
  const forget = async (): Promise<void> => {
    const done = ({ forgotten }: CommandOutput<'memory forget'>): string =>
      forgotten ? own.forgotten(name) : own.alreadyForgotten
    await page.run('memory forget', { key, agent }, { busy, done })
    setAsking(false)
  }
  return (
    <>
      <Button busy={page.view.busy.has(busy)} onClick={() => setAsking(true)}>
        {own.forget}
      </Button>
      {isAsking && (
        <Dialog title={own.forgetTitle(name)} onClose={() => setAsking(false)}>
          <p class="mt-2 wrap-anywhere whitespace-pre-wrap">{visibleText(text)}</p>
          <p class="mt-3 text-muted">{own.forgetHelp}</p>
          <DialogButtons>
            <Button onClick={() => setAsking(false)}>{texts.cancel}</Button>
            <Button look="danger" busy={page.view.busy.has(busy)} onClick={() => void forget()}>
              {own.forget}
            </Button>
          </DialogButtons>
        </Dialog>
      )}
    </>
  )
}
