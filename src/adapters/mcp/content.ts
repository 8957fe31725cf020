/** What a server answered, as the model reads it. Pictures and sound are named, not shown. */

import type { CallResult } from '../../domain/decision.ts'
import type { Json } from '../../domain/json.ts'

/** As the protocol has it; nothing of it is taken for granted. */
export interface Answered {
  readonly content?: readonly Part[] | undefined
  readonly structuredContent?: unknown
  readonly isError?: boolean | undefined
}

interface Part {
  readonly type: string
  readonly text?: unknown
  readonly data?: unknown
  readonly mimeType?: unknown
  readonly uri?: unknown
  readonly name?: unknown
  readonly resource?: unknown
}

export function resultOf({ content = [], structuredContent, isError }: Answered): CallResult {
  const said = content.map(textOf).filter((text) => text !== '')
  // A server that speaks both says the same twice.
  if (said.length === 0 && structuredContent !== undefined) said.push(JSON.stringify(structuredContent))
  return { status: isError === true ? 'error' : 'ok', content: said.join('\n') || '(it answered nothing)' }
}

function textOf(part: Part): string {
  switch (part.type) {
    case 'text':
      return String(part.text ?? '')
    case 'resource': {
      const { uri, text, blob } = (part.resource ?? {}) as { uri?: Json; text?: Json; blob?: Json }
      return typeof text === 'string' ? `[${uri}]\n${text}` : `[${uri}: ${sizeOf(blob)}, not shown]`
    }
    case 'resource_link':
      return `[${part.name ?? 'resource'}: ${part.uri}]`
    default:
      return `[${part.type} ${part.mimeType ?? ''}: ${sizeOf(part.data)}, not shown]`
  }
}

const sizeOf = (data: unknown): string => `${typeof data === 'string' ? Buffer.byteLength(data, 'base64') : 0} bytes`
