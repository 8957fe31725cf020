/** Converts a server's answer to a tool result. Of images and audio, the result contains only type and size. */

import type { CallResult } from '../../domain/decision.ts'
import type { Json } from '../../domain/json.ts'

/** The result of a tool call in the protocol. Servers may send anything, so every field is checked. */
export interface McpAnswer {
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

export function resultFromAnswer({ content = [], structuredContent, isError }: McpAnswer): CallResult {
  const texts = content.map(textFromPart).filter((text) => text !== '')
  // Structured content is used only if there is no text: servers that send both send the same content twice.
  if (texts.length === 0 && structuredContent !== undefined) texts.push(JSON.stringify(structuredContent))
  return { status: isError === true ? 'error' : 'ok', content: texts.join('\n') || '(empty result)' }
}

function textFromPart(part: Part): string {
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
