/** Something that waits for the owner and has no card of its own: its text, and a button for each choice. */

import { useState } from 'preact/hooks'
import { readCommand } from '../api.ts'
import type { ListedNeed } from '../api-types.ts'
import { Button } from '../components.tsx'
import { relativeTime, visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { useFetched } from '../use-fetched.ts'
import type { ViewContext } from '../view-context.ts'
import { NeedCard } from './need-card.tsx'

interface ListedNeedProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly listed: ListedNeed
  readonly isCurrent?: boolean
}

export function ListedNeedCard({ context, page, listed, isCurrent = false }: ListedNeedProps) {
  const { texts, language, now } = context
  const { id, kind } = listed
  const [words, setWords] = useState('')
  // The list is in the language of the home.
  const fetched = useFetched(page, `need ${id} ${language}`, () => readCommand('needs show', { id, language }))
  const { title, body, choices, expires_at } = fetched.kind === 'ready' ? fetched.data : listed
  const name = `need ${id}`
  const answer = (choice: ListedNeed['choices'][number]): void => {
    const own = words.trim() === '' || choice.words === 'none' ? {} : { words }
    void page.run(
      'needs answer',
      { id, choice: choice.id, ...own },
      { busy: name, done: texts.needs.done(choice.text) },
    )
  }
  const wants = choices.find((choice) => choice.words !== 'none')
  return (
    <NeedCard
      {...{ kind, id, isCurrent, tone: kind === 'failure' ? 'fault' : 'wait' }}
      title={visibleText(title)}
      note={expires_at === null ? '' : texts.needs.expires(relativeTime(Date.parse(expires_at), now, language))}
    >
      <p class="wrap-anywhere whitespace-pre-wrap">{visibleText(body)}</p>
      {wants && (
        <input
          class="w-full rounded-md border border-line bg-surface px-2.5 py-1.5"
          name={`words-${id}`}
          autocomplete="off"
          aria-label={texts.needs.words}
          placeholder={texts.needs.words}
          value={words}
          onInput={({ currentTarget }) => setWords(currentTarget.value)}
        />
      )}
      <ul class="flex flex-col gap-2 pt-1">
        {choices.map((choice) => (
          <li key={choice.id} class="flex flex-wrap items-center gap-2">
            <Button busy={page.view.busy.has(name)} onClick={() => answer(choice)}>
              {choice.text}
            </Button>
            <span class="label min-w-0 flex-1">{choice.does}</span>
          </li>
        ))}
      </ul>
    </NeedCard>
  )
}
