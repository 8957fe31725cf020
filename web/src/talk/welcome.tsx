/** The place Talk before the first message: what to write, with examples. */

import { useState } from 'preact/hooks'
import { Dot } from '../components.tsx'
import type { PageState } from '../page-state.ts'
import type { ViewContext } from '../view-context.ts'
import { Composer } from './composer.tsx'

const EXAMPLE_CLASSES = [
  'cursor-pointer rounded-full border border-line bg-surface px-3.5 py-1.5 text-left text-muted transition-colors',
  'hover:border-other hover:text-ink',
].join(' ')

export function Welcome({ context: { texts }, page }: { readonly context: ViewContext; readonly page: PageState }) {
  const [example, setExample] = useState('')
  const isOffline = page.view.status?.model.note !== null && page.view.status !== null
  const examples = isOffline ? [...texts.talk.offlineExamples, ...texts.talk.examples.slice(0, 2)] : texts.talk.examples
  return (
    <div class="mx-auto flex max-w-2xl flex-col gap-5 pt-[14vh]">
      <div>
        <h1 class="text-3xl font-semibold tracking-tight text-balance">{texts.talk.title}</h1>
        <p class="mt-2 text-[15px] text-muted text-pretty">{texts.talk.subtitle}</p>
      </div>
      <Composer {...{ page, texts, example }} />
      <ul class="flex flex-wrap gap-2">
        {examples.map((text) => (
          <li key={text}>
            <button type="button" class={EXAMPLE_CLASSES} onClick={() => setExample(text)}>
              {text}
            </button>
          </li>
        ))}
      </ul>
      {isOffline && (
        <p class="label flex items-baseline gap-2" data-model="offline">
          <Dot tone="wait" />
          <span>
            {texts.talk.offline}{' '}
            <a class="text-link underline underline-offset-2" href="/settings/models">
              {texts.talk.addModel}
            </a>
          </span>
        </p>
      )}
    </div>
  )
}
