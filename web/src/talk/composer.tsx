/** The field in which the owner writes. The text is kept until the server has accepted it. */

import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../components.tsx'
import { isSendKey } from '../enter-key.ts'
import type { PageState } from '../page-state.ts'
import type { Texts } from '../texts.ts'

interface ComposerProps {
  readonly page: PageState
  readonly texts: Texts
  readonly placeholder: string
  /** An example that the owner has chosen. */
  readonly example?: string
}

/** The frame around field and button shows the focus of the field. */
const FRAME_CLASSES = [
  'flex items-end gap-2 rounded-2xl border border-line bg-surface p-2 shadow-sm',
  'has-[textarea:focus]:border-decide has-[textarea:focus]:ring-1 has-[textarea:focus]:ring-decide',
].join(' ')

const FIELD_CLASSES = [
  'min-h-9 min-w-0 flex-1 resize-none bg-transparent px-2 py-1.5 text-[15px] outline-none! placeholder:text-muted',
  'placeholder:truncate',
].join(' ')

const MAX_HEIGHT_PX = 220

export function Composer({ page, texts, placeholder, example = '' }: ComposerProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  const { draft } = page.conversation
  const [text, setText] = useState(draft.text)
  useLayoutEffect(() => draft.listen(setText), [draft])
  useLayoutEffect(() => {
    const element = field.current
    if (draft.hadFocus) element?.focus()
    return () => {
      draft.hadFocus = element !== null && document.activeElement === element
    }
  }, [draft])
  useLayoutEffect(() => {
    if (example === '') return
    draft.write(example)
    field.current?.focus()
  }, [draft, example])
  useLayoutEffect(() => grow(field.current), [text])

  const send = async (): Promise<void> => {
    const said = text.trim()
    if (said === '') return
    draft.write('')
    try {
      await page.conversation.send(said)
    } catch (thrown) {
      draft.putBack(said)
      page.reportFailure(thrown)
    }
  }
  return (
    <form
      class={FRAME_CLASSES}
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
        onInput={({ currentTarget }) => draft.write(currentTarget.value)}
        onKeyDown={(event) => {
          if (!isSendKey(event)) return
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
