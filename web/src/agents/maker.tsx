/** A sentence becomes an agent: it is said back first, and created as it was said. */

import { useState } from 'preact/hooks'
import { ApiError, runCommand } from '../api.ts'
import type { AgentPreview } from '../api-types.ts'
import { Button, Card } from '../components.tsx'
import { isSendKey } from '../enter-key.ts'
import { visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { AGENTS_TEXTS, type AgentsTexts } from '../texts/agents.ts'
import { explainError } from '../texts/errors.ts'
import type { ViewContext } from '../view-context.ts'
import { Preview } from './preview.tsx'
import { WhenField } from './when-field.tsx'

type Reading =
  | { readonly kind: 'none' }
  | { readonly kind: 'reading' }
  | { readonly kind: 'understood'; readonly preview: AgentPreview }
  | { readonly kind: 'refused'; readonly reason: string; readonly expected: string | undefined }
  /** A folder that the sentence names is missing. */
  | { readonly kind: 'missing'; readonly what: string }

interface MakerProps {
  readonly page: PageState
  readonly context: ViewContext
}

const FIELD_CLASSES = [
  'field-sizing-content max-h-48 min-h-16 w-full resize-none rounded-md border border-line bg-surface px-3 py-2',
  'text-[15px] placeholder:text-muted',
].join(' ')

export function Maker({ page, context }: MakerProps) {
  const own = AGENTS_TEXTS[context.language].maker
  const [sentence, setSentence] = useState('')
  const [reading, setReading] = useState<Reading>({ kind: 'none' })
  const write = (text: string): void => {
    setSentence(text)
    setReading({ kind: 'none' })
  }
  const check = async (schedule?: string): Promise<void> => {
    if (sentence.trim() === '') return
    setReading({ kind: 'reading' })
    setReading(await readSentence(page, sentence, schedule))
  }
  const create = async ({ create: exactly, agent_id }: AgentPreview): Promise<void> => {
    const done = own.created(visibleText(agent_id))
    if (await page.run('agent new', exactly, { busy: 'agent new', done })) write('')
  }
  return (
    <Card class="p-4 sm:p-5">
      <section aria-label={own.title} data-maker={reading.kind}>
        <SentenceField {...{ own, sentence, write }} isBusy={reading.kind === 'reading'} check={() => void check()} />
        {reading.kind === 'refused' && <Refusal {...{ own, reading }} check={(when) => void check(when)} />}
        {reading.kind === 'missing' && (
          <p class="mt-4 border-l-3 border-wait pl-3 wrap-anywhere" role="alert" data-missing>
            {visibleText(explainError(reading.what, context.language))}
          </p>
        )}
        {reading.kind === 'understood' && (
          <Preview
            {...{ page, context, preview: reading.preview }}
            isBusy={page.view.busy.has('agent new')}
            onCreate={() => void create(reading.preview)}
            onCancel={() => setReading({ kind: 'none' })}
            onWhen={(when) => void check(when)}
          />
        )}
      </section>
    </Card>
  )
}

async function readSentence(page: PageState, sentence: string, schedule: string | undefined): Promise<Reading> {
  try {
    const preview = await runCommand('agent new', { sentence, schedule, dry_run: true })
    return { kind: 'understood', preview }
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.code !== 'unauthorized') {
      const { what, got, expected } = thrown.parts
      if (thrown.code === 'not_found') return { kind: 'missing', what }
      return { kind: 'refused', reason: got ?? what, expected }
    }
    page.reportFailure(thrown)
    return { kind: 'none' }
  }
}

type MakerTexts = AgentsTexts['maker']

interface FieldProps {
  readonly own: MakerTexts
  readonly sentence: string
  readonly isBusy: boolean
  write(text: string): void
  check(): void
}

function SentenceField({ own, sentence, isBusy, write, check }: FieldProps) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        check()
      }}
    >
      <label class="font-semibold" for="agent-sentence">
        {own.label}
      </label>
      <div class="mt-2 flex flex-col gap-2 sm:flex-row sm:items-end">
        <textarea
          id="agent-sentence"
          rows={2}
          class={FIELD_CLASSES}
          placeholder={own.placeholder}
          value={sentence}
          onInput={({ currentTarget }) => write(currentTarget.value)}
          onKeyDown={(event) => {
            if (!isSendKey(event)) return
            event.preventDefault()
            check()
          }}
        />
        <span class="shrink-0 self-end">
          <Button look="main" type="submit" busy={isBusy}>
            {own.check}
          </Button>
        </span>
      </div>
      {sentence === '' && <Examples own={own} choose={write} />}
      {isBusy && <p class="label pulsing mt-2">{own.checking}</p>}
    </form>
  )
}

const EXAMPLE_CLASSES = [
  'cursor-pointer rounded-full border border-line px-3 py-1 text-left text-[13px] text-muted transition-colors',
  'hover:border-other hover:text-ink',
].join(' ')

function Examples({ own, choose }: { readonly own: MakerTexts; choose(example: string): void }) {
  return (
    <ul class="mt-2.5 flex flex-wrap gap-2">
      {own.examples.map((example) => (
        <li key={example}>
          <button type="button" class={EXAMPLE_CLASSES} onClick={() => choose(example)}>
            {example}
          </button>
        </li>
      ))}
    </ul>
  )
}

interface RefusalProps {
  readonly own: MakerTexts
  readonly reading: Extract<Reading, { kind: 'refused' }>
  check(when: string): void
}

function Refusal({ own, reading: { reason, expected }, check }: RefusalProps) {
  return (
    <div class="mt-4 flex flex-col gap-1.5 border-l-3 border-wait pl-3" role="alert" data-refused>
      <p class="font-medium">{own.refused}</p>
      <p class="wrap-anywhere">{visibleText(reason)}</p>
      {expected !== undefined && <p class="wrap-anywhere text-muted">{own.refusedLike(visibleText(expected))}</p>}
      <WhenField {...{ own, check }} label={own.when} />
    </div>
  )
}
