/** The field in which the owner writes. It keeps the text until the server has accepted it. */

import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../components.tsx'
import type { PageState } from '../page-state.ts'
import type { Texts } from '../texts.ts'

interface ComposerProps {
  readonly page: PageState
  readonly texts: Texts
  readonly placeholder: string
  /** An example that the owner has chosen. */
  readonly example?: string
}

const FIELD_CLASSES = [
  'min-h-9 min-w-0 flex-1 resize-none bg-transparent px-2 py-1.5 text-[15px] outline-none placeholder:text-muted',
].join(' ')

const DRAFT_KEY = 'tireless-draft'
const MAX_HEIGHT_PX = 220

export function Composer({ page, texts, placeholder, example = '' }: ComposerProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useState(() => sessionStorage.getItem(DRAFT_KEY) ?? '')
  const write = (next: string): void => {
    sessionStorage.setItem(DRAFT_KEY, next)
    setText(next)
  }
  useLayoutEffect(() => {
    if (example === '') return
    write(example)
    field.current?.focus()
  }, [example])
  useLayoutEffect(() => grow(field.current), [text])

  const send = async (): Promise<void> => {
    const said = text.trim()
    if (said === '') return
    write('')
    try {
      await page.conversation.send(said)
    } catch (thrown) {
      write(said)
      page.reportFailure(thrown)
    }
  }
  return (
    <form
      class="flex items-end gap-2 rounded-2xl border border-line bg-surface p-2 shadow-sm focus-within:border-other"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <textarea
        ref={field}
        rows={1}
        class={FIELD_CLASSES}
        name="message"
        aria-label={texts.talk.placeholder}
        placeholder={placeholder}
        title={texts.talk.hint}
        value={text}
        onInput={({ currentTarget }) => write(currentTarget.value)}
        onKeyDown={(event) => {
          // Enter also ends a word in an input method for Chinese; that does not send.
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
          event.preventDefault()
          void send()
        }}
      />
      <Button look="main" type="submit" busy={false}>
        {texts.talk.send}
      </Button>
    </form>
  )
}

function grow(field: HTMLTextAreaElement | null): void {
  if (!field) return
  field.style.height = 'auto'
  field.style.height = `${Math.min(field.scrollHeight, MAX_HEIGHT_PX)}px`
}
