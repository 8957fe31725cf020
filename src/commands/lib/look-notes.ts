/** Tells those who watch the kernel what each look of a resident came to, in one line. */

import { clipText } from '../../domain/clean-summary.ts'
import { assertNever } from '../../domain/error.ts'
import type { PeopleText } from '../../domain/language.ts'
import type { BusAction } from '../../ports/bus.ts'
import type { Needs } from './context.ts'
import type { Progress } from './progress.ts'

/** Contract: tells until the returned function is called. */
export const tellLooks = ({ residents }: Needs<'residents'>, tell: (progress: Progress) => void): (() => void) =>
  residents.onAction((action) => tell({ kind: 'note', ...describeLook(action) }))

const MAX_TEXT = 300

const oneLine = (text: string): string => clipText(text.replaceAll(/\s+/g, ' ').trim(), MAX_TEXT)

function describeLook({ agent, action, ...look }: BusAction): PeopleText {
  const [text, why] = [oneLine(look.text), oneLine(look.why)]
  switch (action) {
    case 'say':
      return { text: `${agent} says: ${text}`, zh: `${agent} 说：${text}` }
    case 'query':
      return { text: `${agent} asks: ${text}`, zh: `${agent} 问：${text}` }
    case 'noop': {
      const [reason, reasonZh] = why === '' ? ['', ''] : [`: ${why}`, `：${why}`]
      return { text: `${agent} does nothing${reason}`, zh: `${agent} 什么也不做${reasonZh}` }
    }
    default:
      return assertNever(action)
  }
}
