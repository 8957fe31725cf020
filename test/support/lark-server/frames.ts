/** The binary frames of Lark's long connection (`pbbp2.Frame`, protocol buffers), written without the SDK. */

export interface Frame {
  readonly seqId: bigint
  readonly logId: bigint
  readonly service: number
  /** 0: control (ping, pong); 1: data (events). */
  readonly method: number
  readonly headers: Readonly<Record<string, string>>
  readonly payload: Buffer
}

const VARINT = 0
const LENGTH = 2

function varint(value: bigint | number): Buffer {
  const bytes: number[] = []
  let rest = BigInt(value)
  do {
    const low = Number(rest & 0x7fn)
    rest >>= 7n
    bytes.push(rest === 0n ? low : low | 0x80)
  } while (rest !== 0n)
  return Buffer.from(bytes)
}

const number = (field: number, value: bigint | number): Buffer =>
  Buffer.concat([varint((field << 3) | VARINT), varint(value)])

const bytes = (field: number, value: Uint8Array | string): Buffer => {
  const content = Buffer.from(value as Uint8Array)
  return Buffer.concat([varint((field << 3) | LENGTH), varint(content.length), content])
}

export const encodeFrame = ({ seqId, logId, service, method, headers, payload }: Frame): Buffer =>
  Buffer.concat([
    number(1, seqId),
    number(2, logId),
    number(3, service),
    number(4, method),
    ...Object.entries(headers).map(([key, value]) => bytes(5, Buffer.concat([bytes(1, key), bytes(2, value)]))),
    bytes(8, payload),
  ])

interface Field {
  readonly field: number
  readonly value: bigint
  readonly content: Buffer
}

function readVarint(data: Buffer, start: number): { readonly value: bigint; readonly end: number } {
  let [value, shift, at] = [0n, 0n, start]
  for (;;) {
    const byte = data[at]
    if (byte === undefined) throw new Error('the frame ends too early')
    value |= BigInt(byte & 0x7f) << shift
    shift += 7n
    at += 1
    if (byte < 0x80) return { value, end: at }
  }
}

function* readFields(data: Buffer): Generator<Field> {
  let at = 0
  while (at < data.length) {
    const tag = readVarint(data, at)
    const [field, type] = [Number(tag.value >> 3n), Number(tag.value & 7n)]
    if (type !== VARINT && type !== LENGTH) throw new Error(`wire type ${type} is not part of a frame`)
    const { value, end } = readVarint(data, tag.end)
    at = type === LENGTH ? end + Number(value) : end
    if (at > data.length) throw new Error('the frame ends too early')
    yield { field, value, content: type === LENGTH ? data.subarray(end, at) : Buffer.alloc(0) }
  }
}

export function decodeFrame(data: Buffer): Frame {
  const fields = [...readFields(data)]
  const last = (field: number): Field | undefined => fields.findLast((found) => found.field === field)
  const headers = fields
    .filter(({ field }) => field === 5)
    .map(({ content }) => {
      const parts = [...readFields(content)]
      const text = (field: number): string => parts.find((part) => part.field === field)?.content.toString() ?? ''
      return [text(1), text(2)] as const
    })
  return {
    seqId: last(1)?.value ?? 0n,
    logId: last(2)?.value ?? 0n,
    service: Number(last(3)?.value ?? 0n),
    method: Number(last(4)?.value ?? 0n),
    headers: Object.fromEntries(headers),
    payload: last(8)?.content ?? Buffer.alloc(0),
  }
}
