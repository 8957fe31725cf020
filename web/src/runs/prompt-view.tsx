/** What was sent to the model: the composition of the request, and on demand the request itself. */

import { useState } from 'preact/hooks'
import { readCommand } from '../api.ts'
import { Button, Chevron } from '../components.tsx'
import { count, oneLine, visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { useOnce } from '../use-once.ts'
import type { RunsContext } from './runs-context.ts'
import { type FullStep, LongText, Part } from './step-parts.tsx'

interface PromptViewProps {
  readonly context: RunsContext
  readonly page: PageState
  readonly run: string
  readonly step: FullStep
}

export function PromptView(props: PromptViewProps) {
  const { context, step } = props
  const { own, language } = context
  const [isShown, setShown] = useState(false)
  const last = step.requests.at(-1)
  if (!last) return null
  const { composition, model } = last
  const sections = Object.entries(composition?.sections ?? {})
  const total = sections.reduce((sum, [, tokens]) => sum + tokens, 0)
  const share = composition && composition.bytes > 0 ? Math.round((composition.cached / composition.bytes) * 100) : 0
  return (
    <Part title={`${own.prompt}: ${model}`}>
      {composition && (
        <>
          <p class="label figures mb-1.5">{own.promptSum(count(total, language), `${share} %`)}</p>
          <Composition context={context} sections={sections} total={total} />
          {composition.cut && <p class="label mt-1 wrap-anywhere">{own.cut(composition.cut.join(', '))}</p>}
          {composition.dropped && <p class="label mt-1 wrap-anywhere">{own.dropped(composition.dropped.join(', '))}</p>}
        </>
      )}
      {isShown ? (
        <Request {...props} />
      ) : (
        <p class="mt-2">
          <Button onClick={() => setShown(true)}>{own.showRequest}</Button>
        </p>
      )}
    </Part>
  )
}

interface CompositionProps {
  readonly context: RunsContext
  readonly sections: readonly (readonly [string, number])[]
  readonly total: number
}

/** Parts that are the same in every request of the run are shown in another colour than those that grow. */
const GROWING = ['recalled', 'conversation', 'input']

function Composition({ context: { own, language }, sections, total }: CompositionProps) {
  return (
    <ul class="grid gap-x-3 gap-y-0.5" data-composition>
      {sections
        .filter(([, tokens]) => tokens > 0)
        .map(([name, tokens]) => (
          <li key={name} class="grid grid-cols-[8rem_minmax(0,1fr)_4rem] items-center gap-x-3 text-[13px]">
            <span class="truncate">{own.sections[name] ?? visibleText(name)}</span>
            <span class="h-1.5 overflow-hidden rounded-full bg-sunken" aria-hidden="true">
              <span
                class={`block h-full min-w-px rounded-full ${GROWING.includes(name) ? 'bg-act' : 'bg-decide'}`}
                style={{ width: `${(tokens / Math.max(1, total)) * 100}%` }}
              />
            </span>
            <span class="label figures text-right">{count(tokens, language)}</span>
          </li>
        ))}
    </ul>
  )
}

type StepRequest = NonNullable<FullStep['request']>

function Request({ context, page, run, step }: PromptViewProps) {
  const { own, language } = context
  const { step_id, requests } = step
  const found = useOnce(page, `${run} ${step_id} ${requests.length}`, async () => {
    const { step: full } = await readCommand('trace show', { run, step: step_id, request: true })
    return full?.request ?? 'none'
  })
  if (found === undefined) return <p class="mt-2 pulsing text-muted">{own.makingRequest}</p>
  if (found === 'none') return <p class="mt-2 text-muted">{own.noRequest}</p>
  return (
    <div class="mt-3 flex min-w-0 flex-col gap-1" data-request={found.is_exact ? 'exact' : 'made'}>
      <p class={`label ${found.is_exact ? '' : 'text-wait'}`}>{found.is_exact ? own.exact : own.notExact}</p>
      {found.sections.map(({ name, text, tokens }) => (
        <Fold key={name} title={own.sections[name] ?? name} note={own.tokens(count(tokens, language))}>
          {text}
        </Fold>
      ))}
      {found.tools.length > 0 && (
        <Fold title={own.sections.tools ?? ''} note={count(found.tools.length, language)}>
          {found.tools
            .map((tool) => `${tool.name}: ${tool.description}\n${JSON.stringify(tool.parameters)}`)
            .join('\n\n')}
        </Fold>
      )}
      <Messages context={context} messages={found.messages} />
    </div>
  )
}

interface FoldProps {
  readonly title: string
  readonly note: string
  readonly children: string
}

/** The text is drawn when it is opened: a request can be long. */
function Fold({ title, note, children }: FoldProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="group min-w-0" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary class="flex min-w-0 cursor-pointer list-none items-baseline gap-2 py-0.5 hover:text-ink">
        <Chevron />
        <span class="shrink-0 font-medium">{visibleText(title)}</span>
        <span class="min-w-0 truncate text-[13px] text-muted">{note}</span>
      </summary>
      {isOpen && <LongText text={children} />}
    </details>
  )
}

const PAGE_MESSAGES = 40
const MAX_LINE = 160

function Messages({
  context: { own },
  messages,
}: {
  readonly context: RunsContext
  readonly messages: StepRequest['messages']
}) {
  const [limit, setLimit] = useState(PAGE_MESSAGES)
  const shown = messages.slice(-limit)
  const hidden = messages.length - shown.length
  return (
    <div data-messages={messages.length}>
      <p class="label mt-2">{own.messages(messages.length)}</p>
      {hidden > 0 && (
        <Button onClick={() => setLimit(limit + PAGE_MESSAGES)}>
          {own.earlierMessages(Math.min(hidden, PAGE_MESSAGES))}
        </Button>
      )}
      {shown.map((message, at) => {
        const text = textOf(message)
        return (
          <Fold
            key={hidden + at}
            title={own.roles[message.role] ?? message.role}
            note={visibleText(oneLine(text).slice(0, MAX_LINE))}
          >
            {text}
          </Fold>
        )
      })}
    </div>
  )
}

function textOf(message: StepRequest['messages'][number]): string {
  if (message.role !== 'assistant') return message.text
  return [message.text, ...message.calls.map(({ tool, args }) => `${tool} ${JSON.stringify(args, null, 2)}`)]
    .filter((part) => part !== '')
    .join('\n\n')
}
