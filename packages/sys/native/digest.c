/*
 * SHA-512 (FIPS 180-4), for names that are derived from other names. The runtimes have it too, but in a module that a
 * plugin's process, which lives for milliseconds, takes one to load.
 */
#include "heddle.h"

#include <string.h>

enum { BLOCK = 128, WORDS = 16, ROUNDS = 80 };

/* The first 64 bits of the fractions of the square roots of the first eight primes. */
static const uint64_t square_roots[8] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1, 0x510e527fade682d1,
    0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

/* The first 64 bits of the fractions of the cube roots of the first eighty primes. */
static const uint64_t cube_roots[ROUNDS] = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc, 0x3956c25bf348b538,
    0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118, 0xd807aa98a3030242, 0x12835b0145706fbe,
    0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2, 0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235,
    0xc19bf174cf692694, 0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5, 0x983e5152ee66dfab,
    0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4, 0xc6e00bf33da88fc2, 0xd5a79147930aa725,
    0x06ca6351e003826f, 0x142929670a0e6e70, 0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed,
    0x53380d139d95b3df, 0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30, 0xd192e819d6ef5218,
    0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8, 0x19a4c116b8d2d0c8, 0x1e376c085141ab53,
    0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8, 0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373,
    0x682e6ff3d6b2b8a3, 0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b, 0xca273eceea26619c,
    0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178, 0x06f067aa72176fba, 0x0a637dc5a2c898a6,
    0x113f9804bef90dae, 0x1b710b35131c471b, 0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc,
    0x431d67c49c100d4c, 0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
};

static uint64_t rotated(uint64_t word, int by) { return word >> by | word << (64 - by); }

static uint64_t load(const uint8_t *bytes) {
  uint64_t word = 0;
  for (int i = 0; i < 8; i++) word = word << 8 | bytes[i];
  return word;
}

static void store(uint8_t *bytes, uint64_t word) {
  for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(word >> (56 - 8 * i));
}

/* Works one block into the state. */
static void mix(uint64_t state[8], const uint8_t *block) {
  uint64_t words[ROUNDS];
  for (int i = 0; i < WORDS; i++) words[i] = load(block + 8 * i);
  for (int i = WORDS; i < ROUNDS; i++) {
    uint64_t far = words[i - 15], near = words[i - 2];
    words[i] = words[i - 16] + words[i - 7] + (rotated(far, 1) ^ rotated(far, 8) ^ far >> 7) +
               (rotated(near, 19) ^ rotated(near, 61) ^ near >> 6);
  }
  uint64_t a = state[0], b = state[1], c = state[2], d = state[3];
  uint64_t e = state[4], f = state[5], g = state[6], h = state[7];
  for (int i = 0; i < ROUNDS; i++) {
    uint64_t first = h + (rotated(e, 14) ^ rotated(e, 18) ^ rotated(e, 41)) + ((e & f) ^ (~e & g)) +
                     cube_roots[i] + words[i];
    uint64_t second = (rotated(a, 28) ^ rotated(a, 34) ^ rotated(a, 39)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first;
    d = c, c = b, b = a, a = first + second;
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d;
  state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

/* sha512(bytes): the digest in hex digits. */
static napi_value sha512(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  struct hd_bytes bytes = hd_bytes(&call, 0);
  if (call.failed) return NULL;
  uint64_t state[8];
  memcpy(state, square_roots, sizeof state);
  size_t whole = bytes.size - bytes.size % BLOCK, rest = bytes.size - whole;
  for (size_t at = 0; at < whole; at += BLOCK) mix(state, bytes.data + at);

  /* The rest, a one bit, zeros, and the number of bits in the last 16 bytes of a block. */
  uint8_t end[2 * BLOCK] = {0};
  size_t size = rest + 1 + 16 <= BLOCK ? BLOCK : 2 * BLOCK;
  memcpy(end, bytes.data + whole, rest);
  end[rest] = 0x80;
  store(end + size - 8, (uint64_t)bytes.size * 8);
  for (size_t at = 0; at < size; at += BLOCK) mix(state, end + at);

  char digits[128];
  for (size_t i = 0; i < sizeof digits; i++) digits[i] = "0123456789abcdef"[state[i / 16] >> (60 - i % 16 * 4) & 15];
  napi_value text = NULL;
  napi_create_string_utf8(env, digits, sizeof digits, &text);
  return text;
}

void hd_register_digest(napi_env env, napi_value exports) {
  static const struct hd_export list[] = {{"sha512", sha512}};
  hd_define(env, exports, list, sizeof list / sizeof *list);
}
