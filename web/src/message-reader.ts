/** Reads the messages of the stream of live events. Pure: no network. */

interface StreamMessage {
  readonly name: string
  readonly data: unknown
}

/** They tell the place in the stream, instead of following the message before. */
const PLACES: ReadonlySet<string> = new Set(['hello', 'reset'])

export class MessageReader {
  #lastId = ''
  #rest = ''

  /** Contract: the id after which a new connection must continue; empty: nothing was read yet. */
  begin(): string {
    this.#rest = ''
    return this.#lastId
  }

  /**
   * Contract: the messages that end in this part of the stream; one counts as read when the next is asked for. Throws
   * if one cannot be read, or was lost on the way: ids are consecutive.
   */
  *read(part: string): Generator<StreamMessage> {
    const blocks = `${this.#rest}${part}`.split('\n\n')
    this.#rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => splitField(line)))
      const [id, name, data] = [fields.get('id'), fields.get('event'), fields.get('data')]
      // A sign of life, or a rest of a message that something has cut.
      if (id === undefined || name === undefined || data === undefined) continue
      if (!PLACES.has(name) && id !== idAfter(this.#lastId)) throw new Error(`${id} follows ${this.#lastId}`)
      yield { name, data: JSON.parse(data) }
      this.#lastId = id
    }
  }
}

function idAfter(id: string): string {
  const at = id.lastIndexOf('.') + 1
  return `${id.slice(0, at)}${Number(id.slice(at)) + 1}`
}

function splitField(line: string): [string, string] {
  const at = line.indexOf(':')
  return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1).replace(/^ /, '')]
}
