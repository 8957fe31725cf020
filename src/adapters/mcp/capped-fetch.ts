/** fetch, with an end to how much one answer may be. */

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/** Contract: of an answer to a question. The stream on which a server tells what happens goes on for as long as it is open. */
export function cappedFetch(fetch: Fetch, mostBytes: number): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init)
    if (init?.method !== 'POST' || response.body === null) return response
    let bytes = 0
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength
        if (bytes > mostBytes) controller.error(new Error(`it said more than ${mostBytes} bytes at once`))
        else controller.enqueue(chunk)
      },
    })
    const { status, statusText, headers } = response
    return new Response(response.body.pipeThrough(counted), { status, statusText, headers })
  }
}
