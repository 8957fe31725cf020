/** The short form of a generated id, which people can type back: the last 8 digits of its UUID and what follows it. */

const GENERATED = /([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{4}([0-9a-f]{8}))((?:\.\d+)*)$/

/** Contract: pure; a name that people chose is returned unchanged. */
export function shortId(id: string): string {
  const [, , digits, rest] = GENERATED.exec(id) ?? []
  return digits === undefined ? id : `${digits}${rest}`
}

/** The UUID inside an id and what follows it; undefined if there is none: `writer-UUID.1.0` contains `UUID.1.0`. */
export function generatedPart(id: string): string | undefined {
  const [, uuid, , rest] = GENERATED.exec(id) ?? []
  return uuid === undefined ? undefined : `${uuid}${rest}`
}
