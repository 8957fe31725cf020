/** The steps of a run in a conversation: calls as they happen, and the text that the model is writing. */

import { Dot, toneOf } from '../components.tsx'
import { FirstItems } from '../first-items.tsx'
import { jsonLine, oneLine, visibleText } from '../format.ts'
import { useTexts } from '../page-language.ts'
import type { CallView, RunView } from '../run-view.ts'
import { sayWhatToolDoes } from '../texts/agent-tools.ts'

/** Calls above this number are only counted. */
const MAX_CALLS = 12
const MAX_LINE = 300

export function Steps({ run, isAll = false }: { readonly run: RunView; readonly isAll?: boolean }) {
  const calls = run.steps.flatMap((step) => step.calls.map((call, at) => ({ call, key: `${step.id}.${at}` })))
  const drawList = (some: typeof calls) => (
    <ol class="flex min-w-0 flex-col gap-1">
      {!isAll && calls.length > some.length && <li class="label">… {calls.length - some.length}</li>}
      {some.map(({ call, key }) => (
        <CallLine key={key} call={call} />
      ))}
    </ol>
  )
  return isAll ? <FirstItems items={calls}>{drawList}</FirstItems> : drawList(calls.slice(-MAX_CALLS))
}

const CONTENT_CLASSES = [
  'mt-1 ml-4 max-h-60 overflow-auto rounded-md bg-sunken px-2.5 py-1.5 wrap-anywhere whitespace-pre-wrap',
].join(' ')

function CallLine({ call: { tool, args: given, status, content } }: { readonly call: CallView }) {
  const { language } = useTexts()
  const args = parseArguments(given)
  const words = sayWhatToolDoes(tool, language)
  return (
    <li class="min-w-0 font-mono text-[13px]" data-call={tool}>
      <details class="group min-w-0">
        <summary class="flex cursor-pointer list-none items-center gap-2 hover:text-ink">
          <Dot tone={status === null ? 'other' : toneOf(status)} pulsing={status === null} />
          <span class={`max-w-3/5 shrink-0 truncate text-act ${words ? 'font-sans' : ''}`} title={visibleText(tool)}>
            {words ?? visibleText(tool)}
          </span>
          <span class="min-w-0 truncate text-muted">{shortArguments(args)}</span>
        </summary>
        <pre class={CONTENT_CLASSES}>
          {visibleText(`${words ? `${tool} ` : ''}${JSON.stringify(args, null, 2)}\n\n${content}`)}
        </pre>
      </details>
    </li>
  )
}

/** Arguments as the model wrote them are text. */
function parseArguments(args: unknown): unknown {
  if (typeof args !== 'string') return args
  try {
    return JSON.parse(args)
  } catch {
    return args
  }
}

/** The value that says most: a path, a command, an address; else all of them. */
function shortArguments(args: unknown): string {
  const fields = (typeof args === 'object' && args !== null ? args : {}) as Readonly<Record<string, unknown>>
  const named = ['path', 'command', 'url', 'title', 'query', 'question', 'to', 'text', 'todo']
    .map((name) => fields[name])
    .find((value) => typeof value === 'string')
  return visibleText(oneLine(typeof named === 'string' ? named : jsonLine(args)).slice(0, MAX_LINE))
}

/** Text while it is written: plain, because half of a Markdown text is none. */
export function LiveText({ text }: { readonly text: string }) {
  return (
    <div class="flex max-h-48 flex-col-reverse overflow-y-auto" data-live-text>
      <p class="wrap-anywhere whitespace-pre-wrap" dir="auto">
        {visibleText(text)}
      </p>
    </div>
  )
}
