"""weir"""
