/** A message to one session. */

import { Button } from '../components.tsx'
import { isSendKey } from '../enter-key.ts'
import type { Language } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { SESSION_TEXTS } from '../texts/work-sessions.ts'
import { useMessage } from '../use-message.ts'

interface MessageFieldProps {
  readonly page: PageState
  readonly language: Language
  readonly session: string
}

const FIELD_CLASSES = [
  'min-w-40 flex-1 resize-y rounded-md border border-line bg-surface px-3 py-1.5 placeholder:text-muted',
].join(' ')

export function MessageField({ page, language, session }: MessageFieldProps) {
  const own = SESSION_TEXTS[language]
  const feedback = { busy: `send ${session}`, done: own.sent }
  const { text, isBusy, write, send } = useMessage(page, { place: `session ${session}`, session }, feedback)
  return (
    <form
      class="flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <textarea
        class={FIELD_CLASSES}
        rows={1}
        name="message"
        aria-label={own.write}
        placeholder={own.write}
        value={text}
        onInput={({ currentTarget }) => write(currentTarget.value)}
        onKeyDown={(event) => {
          if (!isSendKey(event)) return
          event.preventDefault()
          void send()
        }}
      />
      <Button look="main" type="submit" busy={isBusy}>
        {own.send}
      </Button>
    </form>
  )
}
