/**
 * Node's fetch without its own limits: after 300 s without a header or a byte it would cut a slow model short, whatever `models.timeout`
 * says. Silence is the watch's to judge. Where Node keeps its connections elsewhere one day, its limits are back, and nothing else is lost.
 */

const GLOBAL_DISPATCHER = Symbol.for('undici.globalDispatcher.1')

/** The same class as Node's own: it keeps what the environment says of proxies. */
type DispatcherClass = new (options: { readonly headersTimeout: 0; readonly bodyTimeout: 0 }) => object

export function patientFetch(): typeof globalThis.fetch {
  let patient: object | undefined
  return (input, init) => {
    patient ??= dispatcher()
    return fetch(input, patient === undefined ? init : ({ ...init, dispatcher: patient } as RequestInit))
  }
}

function dispatcher(): object | undefined {
  const own: unknown = Reflect.get(globalThis, GLOBAL_DISPATCHER)
  if (typeof own !== 'object' || own === null) return undefined
  const Dispatcher = own.constructor as DispatcherClass
  return new Dispatcher({ headersTimeout: 0, bodyTimeout: 0 })
}
