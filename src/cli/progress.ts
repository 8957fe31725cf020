/** Progress on a terminal: what the agent does, as it does it. Plain lines elsewhere. */

import { styleText } from 'node:util'
import type { Progress } from '../commands/command.ts'
import type { Event } from '../domain/event.ts'

const LONGEST_LINE = 160

export function progressView(out: NodeJS.WriteStream): { tell(progress: Progress): void; end(): void } {
  // Streamed text is shown on a terminal only; in a log the whole answer is a line of its own.
  let midLine = false
  const line = (text: string): void => {
    out.write(`${midLine ? '\n' : ''}${text}\n`)
    midLine = false
  }
  return {
    tell(progress) {
      if (progress.kind === 'note') line(styleText('yellow', progress.text, { stream: out }))
      else if (progress.kind === 'event') {
        const text = eventLine(progress.event, out)
        if (text !== undefined) line(text)
      } else if (progress.kind === 'delta' && out.isTTY) {
        out.write(styleText('dim', progress.delta.text, { stream: out }))
        midLine = !progress.delta.text.endsWith('\n')
      }
    },
    end() {
      if (midLine) out.write('\n')
    },
  }
}

function eventLine(event: Event, out: NodeJS.WriteStream): string | undefined {
  const payload = event.payload as Record<string, unknown>
  const step = styleText('dim', `step ${event.step_id}`, { stream: out })
  switch (`${event.phase} ${event.stage}`) {
    case 'INIT start':
      return `${styleText('bold', String(payload.agent_id), { stream: out })} begins`
    case 'DECIDE model_input':
      return `${step} asks ${String(payload.model)}`
    case 'DECIDE_ERROR error':
      return `${step} ${styleText('red', `${String(payload.code)}: ${cut(String(payload.message))}`, { stream: out })}`
    case 'ACT start':
      return `${step} ${styleText('cyan', String(payload.tool), { stream: out })} ${cut(JSON.stringify(payload.args))}`
    case 'ACT action_results':
      return `${step} ${styleText(event.ok ? 'green' : 'red', String(payload.status), { stream: out })} ${cut(String(payload.content))}`
    case 'CHECK_STOP park':
      return `${step} parked: ${cut(String(payload.reason))}`
    case 'END end':
      return event.ok
        ? `ended: ${String(payload.stop_reason)}`
        : styleText('red', `ended: ${String(payload.stop_reason)} ${cut(String(payload.error ?? ''))}`, { stream: out })
    default:
      return undefined
  }
}

function cut(text: string): string {
  const flat = text.replaceAll(/\s+/g, ' ').trim()
  return flat.length > LONGEST_LINE ? `${flat.slice(0, LONGEST_LINE - 1)}…` : flat
}
