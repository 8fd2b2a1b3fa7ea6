/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the macros find out about a class and an argument at compile time.
 *
 *	KTR__TYPE(x)	enum ktr_arg_type of x, a constant; x is not evaluated
 *	KTR__BITS(x)	x as a 64-bit word, evaluated once: integers extended by their own sign,
 *			pointers as they are, floating point as the bits of a double
 *	KTR__MASK(m)	the class's bits now; KTR__STATIC_MASK and _CLASS: what is known at compile time
 */
#ifndef KTR_ARG_H
#define KTR_ARG_H

#include <ktr/site.h>

#include <stdint.h>

#define KTR__APP_MASK (KTR_ALL << KTR_CLASS_APP_FIRST)

static inline uint64_t ktr__double_bits(double x)
{
	uint64_t bits;

	__builtin_memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static inline uint64_t ktr__word(uint64_t x)
{
	return x;
}

#ifndef __cplusplus

/* The conditional promotes bit-fields, which match no listed type, to int or unsigned. */
#define KTR__TYPE(x)                                                                             \
	_Generic((x),                                                                            \
		_Bool: KTR_ARG_U8,                                                               \
		char: (char)-1 < 0 ? KTR_ARG_I8 : KTR_ARG_U8,                                    \
		signed char: KTR_ARG_I8,                                                         \
		unsigned char: KTR_ARG_U8,                                                       \
		short: KTR_ARG_I16,                                                              \
		unsigned short: KTR_ARG_U16,                                                     \
		int: KTR_ARG_I32,                                                                \
		unsigned: KTR_ARG_U32,                                                           \
		long: KTR_ARG_I64,                                                               \
		unsigned long: KTR_ARG_U64,                                                      \
		long long: KTR_ARG_I64,                                                          \
		unsigned long long: KTR_ARG_U64,                                                 \
		float: KTR_ARG_F64,                                                              \
		double: KTR_ARG_F64,                                                             \
		long double: KTR_ARG_F64,                                                        \
		char *: KTR_ARG_STR,                                                             \
		const char *: KTR_ARG_STR,                                                       \
		default: _Generic(1 ? (x) : (x),                                                 \
			int: KTR_ARG_I32,                                                        \
			unsigned: KTR_ARG_U32,                                                   \
			long: KTR_ARG_I64,                                                       \
			unsigned long: KTR_ARG_U64,                                              \
			default: KTR_ARG_PTR))

#define KTR__BITS(x)                                                                             \
	_Generic((x),                                                                            \
		float: ktr__double_bits,                                                         \
		double: ktr__double_bits,                                                        \
		long double: ktr__double_bits,                                                   \
		default: ktr__word)(_Generic((x),                                                \
			float: (x),                                                              \
			double: (x),                                                             \
			long double: (double)_Generic((x), long double: (x), default: 0),        \
			default: (uint64_t)(uintptr_t)(x)))

#define KTR__COMPILE_MASK(m)                                                                     \
	_Generic((m), struct ktr_class *: KTR__APP_MASK, default: (uint64_t)(uintptr_t)(m))

#define KTR__MASK(m)                                                                             \
	_Generic((m),                                                                            \
		struct ktr_class *: __atomic_load_n(                                             \
			&((const struct ktr_class *)(uintptr_t)(m))->mask, __ATOMIC_RELAXED),    \
		default: (uint64_t)(uintptr_t)(m))

#define KTR__STATIC_MASK(m)                                                                      \
	_Generic((m),                                                                            \
		struct ktr_class *: 0,                                                           \
		default: __builtin_choose_expr(__builtin_constant_p(m),                          \
					       (uint64_t)(uintptr_t)(m), 0))

#define KTR__STATIC_CLASS(m)                                                                     \
	_Generic((m), struct ktr_class *: (m), default: (const struct ktr_class *)0)

#else /* C++ */

extern "C++" {

#include <type_traits>

template <class T> constexpr uint8_t ktr__type()
{
	using B = std::remove_cv_t<std::remove_pointer_t<T>>;

	if constexpr (std::is_floating_point<T>::value)
		return KTR_ARG_F64;
	else if constexpr (std::is_pointer<T>::value && std::is_same<B, char>::value)
		return KTR_ARG_STR;
	else if constexpr (std::is_pointer<T>::value || std::is_null_pointer<T>::value)
		return KTR_ARG_PTR;
	else if constexpr (std::is_enum<T>::value)
		return ktr__type<std::underlying_type_t<T>>();
	else {
		constexpr bool s = std::is_signed<T>::value;
		static_assert(std::is_integral<T>::value && sizeof(T) <= 8,
			      "ktr: an argument is a number, an enumerator or a pointer");
		return sizeof(T) == 1	? (s ? KTR_ARG_I8 : KTR_ARG_U8)
		       : sizeof(T) == 2 ? (s ? KTR_ARG_I16 : KTR_ARG_U16)
		       : sizeof(T) == 4 ? (s ? KTR_ARG_I32 : KTR_ARG_U32)
					: (s ? KTR_ARG_I64 : KTR_ARG_U64);
	}
}

template <class T> inline uint64_t ktr__bits(T x)
{
	if constexpr (std::is_floating_point<T>::value)
		return ktr__double_bits((double)x);
	else if constexpr (std::is_null_pointer<T>::value)
		return 0;
	else if constexpr (std::is_pointer<T>::value)
		return (uint64_t)(uintptr_t)x;
	else
		return (uint64_t)x;
}

inline uint64_t ktr__mask(const struct ktr_class *cls)
{
	return __atomic_load_n(&cls->mask, __ATOMIC_RELAXED);
}

template <class T> inline uint64_t ktr__mask(T m)
{
	return (uint64_t)m;
}

constexpr uint64_t ktr__static_mask(const struct ktr_class *)
{
	return 0;
}

template <class T> constexpr uint64_t ktr__static_mask(T m)
{
	return (uint64_t)m;
}

constexpr const struct ktr_class *ktr__static_class(const struct ktr_class *cls)
{
	return cls;
}

template <class T> constexpr const struct ktr_class *ktr__static_class(T)
{
	return nullptr;
}

} /* extern "C++" */

#define KTR__TYPE(x)	    ktr__type<std::decay_t<decltype((x))>>()
#define KTR__BITS(x)	    ktr__bits(x)
/* No call: g++ does not fold a constexpr function in a condition at -O0. */
#define KTR__COMPILE_MASK(m)                                                                     \
	(std::is_pointer<std::decay_t<decltype((m))>>::value ? KTR__APP_MASK :                   \
							       (uint64_t)(uintptr_t)(m))
#define KTR__MASK(m)	    ktr__mask(m)
#define KTR__STATIC_MASK(m)  ktr__static_mask(m)
#define KTR__STATIC_CLASS(m) ktr__static_class(m)

#endif

#endif
