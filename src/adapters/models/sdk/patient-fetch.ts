/**
 * Node's fetch without its own timeouts: they would end a request after 300 s without data, whatever `models.timeout`
 * says. idle-timeout.ts enforces that setting. If a later Node keeps its global dispatcher elsewhere, Node's timeouts
 * apply again and nothing else changes.
 */

const GLOBAL_DISPATCHER = Symbol.for('undici.globalDispatcher.1')

/** The class of Node's own dispatcher, which honours proxy variables. */
type DispatcherClass = new (options: { readonly headersTimeout: 0; readonly bodyTimeout: 0 }) => object

export function createPatientFetch(): typeof globalThis.fetch {
  let withoutTimeouts: object | undefined
  return (input, init) => {
    withoutTimeouts ??= createDispatcher()
    return fetch(
      input,
      withoutTimeouts === undefined ? init : ({ ...init, dispatcher: withoutTimeouts } as RequestInit),
    )
  }
}

function createDispatcher(): object | undefined {
  const nodeDispatcher: unknown = Reflect.get(globalThis, GLOBAL_DISPATCHER)
  if (typeof nodeDispatcher !== 'object' || nodeDispatcher === null) return undefined
  const Dispatcher = nodeDispatcher.constructor as DispatcherClass
  return new Dispatcher({ headersTimeout: 0, bodyTimeout: 0 })
}
