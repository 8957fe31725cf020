/** The API as OpenAPI 3.1, made from the schemas of the commands. */

import { z } from 'zod'
import { ERROR_CODES } from '../domain/error.ts'
import { API, type Endpoint } from './endpoints.ts'

type Schema = Readonly<Record<string, unknown>>

const ERROR: Schema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: { code: { type: 'string', enum: Object.keys(ERROR_CODES) }, message: { type: 'string' } },
    },
  },
}

const json = (schema: Schema): Schema => ({ 'application/json': { schema } })

export function openApi(endpoints: readonly Endpoint[]): Schema {
  return {
    openapi: '3.1.0',
    info: { title: 'Tireless', version: '1', description: 'Every command that the holder of a home runs for others.' },
    security: [{ token: [] }, { cookie: [] }],
    paths: {
      ...Object.fromEntries(endpoints.map((endpoint) => [endpoint.path, pathItem(endpoint)])),
      [`${API}/events`]: { get: EVENTS },
      [`${API}/login`]: { get: LOGGED_IN, post: LOGIN },
    },
    components: {
      schemas: { Error: ERROR },
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'The file `token` of the home.' },
        cookie: {
          ...{ type: 'apiKey', in: 'cookie', name: 'tireless-PORT' },
          description: 'Set by /api/v1/login; with it every POST needs the header `X-Tireless-CSRF: 1`.',
        },
      },
    },
  }
}

function pathItem({ command, method, path }: Endpoint): Schema {
  const { summary, input, output } = command
  const operation = { operationId: path.slice(API.length + 1).replaceAll('/', '_'), summary }
  const responses = {
    200: { description: 'What came of it', content: json(schemaOf(output, 'output')) },
    default: { description: 'What is wrong', content: json({ $ref: '#/components/schemas/Error' }) },
  }
  const asked = schemaOf(input.strict(), 'input')
  return method === 'GET'
    ? { get: { ...operation, parameters: parametersOf(asked), responses } }
    : { post: { ...operation, requestBody: { required: true, content: json(asked) }, responses } }
}

function parametersOf(input: Schema): readonly Schema[] {
  const { properties = {}, required = [] } = input as { properties?: Record<string, Schema>; required?: string[] }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    ...{ name, in: 'query', required: required.includes(name), schema },
    ...(description === undefined ? {} : { description }),
  }))
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Schema {
  const { $schema: _, ...made } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return made
}

const EVENTS: Schema = {
  operationId: 'events',
  summary: 'what happens, as it happens: server-sent events `hello`, `event`, `delta`, `status`, `reset`',
  parameters: [
    {
      ...{ name: 'Last-Event-ID', in: 'header', required: false, schema: { type: 'string' } },
      description: 'go on behind this one; what is too old is answered with `reset`: fetch anew',
    },
  ],
  responses: { 200: { description: 'The stream', content: { 'text/event-stream': { schema: { type: 'string' } } } } },
}

const LOGGED_IN: Schema = {
  operationId: 'logged_in',
  summary: 'whether what is shown with this request lets its sender in',
  security: [],
  responses: {
    200: {
      description: 'Yes or no',
      content: json({ type: 'object', required: ['ok'], properties: { ok: { type: 'boolean' } } }),
    },
  },
}

const LOGIN: Schema = {
  operationId: 'login',
  summary: 'the cookie, for the token or for a code that was printed at the start',
  security: [],
  requestBody: {
    required: true,
    content: json({ type: 'object', properties: { token: { type: 'string' }, code: { type: 'string' } } }),
  },
  responses: {
    200: { description: 'The cookie is set', content: json({ type: 'object' }) },
    401: { description: 'Neither is right', content: json({ $ref: '#/components/schemas/Error' }) },
  },
}
